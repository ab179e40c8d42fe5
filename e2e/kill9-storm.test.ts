import { describe, expect, it } from "vitest";
import { effort } from "../scripts/test/effort.ts";
import { bench } from "./kill9/bench.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { reportStorm } from "./kill9/report.ts";
import { leaseMs } from "./kill9/run.ts";
import { storm } from "./kill9/storm.ts";
import { toldByQueue } from "./kill9/told-by-queue.ts";

const seed = Number(process.env.STEPFOLD_KILL_SEED ?? 20_260);
/** Setups with a queue take about 15 s each; most of that time is the start of processes. */
const short = { kills: effort.queueKills, workers: 3, client: { openAtOnce: 40 } };

const setups = [
  { name: "sqlite", kills: effort.storeKills },
  { name: "postgres", kills: effort.storeKills },
  ...(effort.everyForm ? [{ name: "mysql", kills: effort.storeKills }] : []),
  { name: "postgres + pg-boss", ...short },
  { name: "postgres + bullmq", ...short },
  { name: "redis + bullmq", ...short },
  { name: "postgres + rabbitmq", ...short },
  { name: "postgres + nats", ...short },
  { name: "postgres + sqs", ...short },
];

describe.each(setups)("kill -9 of workers and clients under load on $name", ({ name, ...hardness }) => {
  it(`${hardness.kills} times loses nothing that was acknowledged, and does nothing twice`, { timeout: 300_000 }, async ({ skip }) => {
    const { folder, target } = await bench(name, skip);
    const outcome = await storm({ folder, target, seed, ...hardness });
    console.log(reportStorm(outcome).join("\n"));
    expect(faultsOf(outcome), `seed ${seed}`).toEqual(noFaults);
    expect(outcome.acknowledged.transitions).toBeGreaterThan(2 * hardness.kills);
    // half of the workers has not all of the code
    expect(outcome.left.executions).toBeGreaterThan(0);
    // a loose bound, because the time depends on the machine; `npm run kill9` prints it for an idle machine
    expect(outcome.recovery.longestMs).toBeLessThan(20 * leaseMs);
    // a slow machine delivers late, and then the sweep of the store was earlier; but the queue did deliver
    if (target.queueUrl !== undefined) expect(toldByQueue(outcome.lines).delivered).toBeGreaterThan(0);
  });
});
