import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Starts the stand-in for MongoDB in a process of its own, so that its work does not delay the timers of the tests. */
export async function mongoProcess(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const script = `${import.meta.dirname}/../../../../../scripts/servers/mongo-server.ts`;
  const child = spawn(process.execPath, ["--no-warnings", script], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    url,
    async close() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
