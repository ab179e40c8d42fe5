import { describe, expect, it } from "vitest";
import { bench } from "./kill9/bench.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { reportStorm } from "./kill9/report.ts";
import { leaseMs } from "./kill9/run.ts";
import { storm } from "./kill9/storm.ts";

const kills = 30;
const seed = Number(process.env.STEPFOLD_KILL_SEED ?? 20_260);

describe.each(["sqlite", "postgres"])("kill -9 of workers and clients under load on %s", (name) => {
  it(`${kills} times loses nothing that was acknowledged, and does nothing twice`, { timeout: 300_000 }, async ({ skip }) => {
    const outcome = await storm({ ...(await bench(name, skip)), kills, seed });
    console.log(reportStorm(outcome).join("\n"));
    expect(faultsOf(outcome), `seed ${seed}`).toEqual(noFaults);
    expect(outcome.acknowledged.transitions).toBeGreaterThan(100);
    // not for ever, and not for half an hour: `npm run kill9` tells how long on a machine that has nothing else to do
    expect(outcome.recovery.longestMs).toBeLessThan(20 * leaseMs);
  });
});
