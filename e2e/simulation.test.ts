import { expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { simulated, simulationTimeoutMs as timeout } from "./simulate.fixture.ts";

it(`npm run simulate finds no violation in ${effort.schedules} schedules`, { timeout }, async () => {
  expect(await simulated("--schedules", String(effort.schedules))).toMatch(/^[\d,]+ schedules, \d+ days?, 0 violations$/);
});
