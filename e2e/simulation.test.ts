import { join } from "node:path";
import { expect, it } from "vitest";
import { root, start } from "./cli.ts";

it("npm run simulate finds no violation in 2,000 schedules, and every mutant", async () => {
  const script = join(root, "scripts/simulate.ts");
  const { code, stdout, stderr } = await start(process.execPath, [script, "--schedules", "2000", "--mutants"], { cwd: root }).ended;
  const last = stdout.trim().split("\n").at(-1);
  const [, caught, all] = /^2,\d{3} schedules, 0 violations, (\d+) of (\d+) mutants caught$/.exec(last ?? "") ?? [];
  expect({ code, stderr, last, all }, stdout).toEqual({ code: 0, stderr: "", last, all: caught });
  expect(Number(all)).toBeGreaterThanOrEqual(20);
}, 600_000);
