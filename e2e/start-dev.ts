import { execFileSync } from "node:child_process";
import { createClient } from "stepfold/client";
import { type Place, type Running, startCli } from "./cli.ts";

/** The longest time that anything here may take; a quiet machine needs a tenth of it. */
export const maxMs = 20_000;

/** A running `stepfold dev`. */
interface Dev {
  readonly running: Running;
  readonly url: string;
  readonly token: string;
  readonly client: ReturnType<typeof createClient>;
}

/** Starts `stepfold dev` in a folder, on a free port, and waits until it serves. */
export async function startDev(place: Place, args: readonly string[] = []): Promise<Dev> {
  const running = startCli(["dev", "--json", "--port", "0", ...args], place);
  await running.saw('"type":"ready"');
  const [, url, token] = /"url":"([^"#]+)\/#t=([^"]+)"/.exec(running.stdout())!;
  return { running, url: url!, token: token!, client: createClient({ url: url!, token: token! }) };
}

/** The process that runs the executions: the only child of the one that serves. */
export function workerOf({ running }: Dev): number {
  return Number(execFileSync("pgrep", ["-P", String(running.child.pid)], { encoding: "utf8" }).trim());
}
