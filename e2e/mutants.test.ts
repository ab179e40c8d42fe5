import { expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { simulated, simulationTimeoutMs as timeout } from "./simulate.fixture.ts";

it.runIf(effort.mutants)("npm run simulate catches every mutant", { timeout }, async () => {
  const last = await simulated("--schedules", "0", "--mutants");
  const [, caught, all] = /^(\d+) of (\d+) mutants caught$/.exec(last) ?? [];
  expect(all, last).toBe(caught);
  expect(Number(all)).toBeGreaterThanOrEqual(20);
});
