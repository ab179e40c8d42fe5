import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The stand-in for MongoDB as a process of its own: what it computes does not hold up the clocks of the tests. */
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
