import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { root, start } from "./cli.ts";

const script = join(root, "scripts/simulate.ts");
/** A storm takes about half an hour. */
const timeout = 3 * 3_600_000;

// its processes too: see vitest.config.ts
setPriority(constants.priority.PRIORITY_LOW);

async function lastLine(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await start(process.execPath, [script, ...args], { cwd: root }).ended;
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  return stdout.trim().split("\n").at(-1) ?? "";
}

it(`npm run simulate finds no violation in ${effort.schedules} schedules`, { timeout }, async () => {
  expect(await lastLine("--schedules", String(effort.schedules))).toMatch(/^[\d,]+ schedules, \d+ days?, 0 violations$/);
});

it.runIf(effort.mutants)("npm run simulate catches every mutant", { timeout }, async () => {
  const last = await lastLine("--schedules", "0", "--mutants");
  const [, caught, all] = /^(\d+) of (\d+) mutants caught$/.exec(last) ?? [];
  expect(all, last).toBe(caught);
  expect(Number(all)).toBeGreaterThanOrEqual(20);
});
