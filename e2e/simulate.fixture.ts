import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { root, start } from "./cli.ts";

const script = join(root, "scripts/simulate.ts");

/** The time limit of a simulation; a storm takes about half an hour. */
export const simulationTimeoutMs: number = 3 * 3_600_000;

/** Runs `npm run simulate` at a low priority (see vitest.config.ts), and returns the last line of its output. */
export async function simulated(...args: string[]): Promise<string> {
  // the child processes inherit the priority
  setPriority(constants.priority.PRIORITY_LOW);
  const { code, stdout, stderr } = await start(process.execPath, [script, ...args], { cwd: root }).ended;
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  return stdout.trim().split("\n").at(-1) ?? "";
}
