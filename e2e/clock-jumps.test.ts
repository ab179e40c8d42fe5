import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fakeTimePackage, findFakeTime } from "../scripts/servers/faketime.ts";
import { bench } from "./kill9/bench.ts";
import type { Fleet } from "./kill9/fleet.ts";
import { readLogs } from "./kill9/log.ts";
import { notTested } from "./kill9/not-tested.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { reportRun } from "./kill9/report.ts";
import { run } from "./kill9/run.ts";

const hourMs = 3_600_000;
const errorsMs = [-24 * hourMs, -hourMs, -400, 0, 300, hourMs, 24 * hourMs];
const anyErrorMs = (): number => errorsMs[Math.floor(Math.random() * errorsMs.length)]!;

/** The clocks jump for the first time, and on until enough has happened, but never longer than the second; in milliseconds. */
const [leastMs, mostMs] = [4_000, 60_000];
/** How many steps after a timer, and how many tries of failing steps, are enough. */
const enough = 20;

/** Whether enough timers have fired and enough steps have failed. On a slow machine this takes longer. */
function hasEnough(logs: string): boolean {
  const calls = readLogs(logs).flatMap((line) => (line.what === "called" ? [line.nodeId] : []));
  return ["middle", "flaky"].every((nodeId) => calls.filter((called) => called === nodeId).length >= enough);
}

/**
 * Sets the clocks of all processes that have a fake clock, again and again. Each call of `choose` returns the function that chooses the
 * error of each clock.
 */
async function jump({ members }: Fleet, logs: string, choose: () => () => number): Promise<void> {
  const began = performance.now();
  const tookMs = (): number => performance.now() - began;
  while (tookMs() < leastMs || (!hasEnough(logs) && tookMs() < mostMs)) {
    const errorMs = choose();
    for (const { clock } of members) clock?.set(errorMs());
    await sleep(150);
  }
}

const setups = [
  {
    // the store and the clients have the machine's clock, and the clock of each worker is wrong by an amount of its own
    name: "postgres",
    who: "workers",
    worker: { hasFakeClock: true },
    client: {},
    isClockRight: true,
    disturb: (fleet: Fleet, logs: string) => jump(fleet, logs, () => anyErrorMs),
  },
  {
    // the store and all processes share one clock, the machine's, and it is wrong
    name: "sqlite",
    who: "a machine",
    worker: { hasFakeClock: true },
    client: { hasFakeClock: true },
    isClockRight: false,
    async disturb(fleet: Fleet, logs: string) {
      await jump(fleet, logs, () => {
        const errorMs = anyErrorMs();
        return () => errorMs;
      });
      // timers that were set while the clock was a day ahead become due
      for (const { clock } of fleet.members) clock?.set(72 * hourMs);
    },
  },
];

describe.each(setups)("the clock of $who jumping by up to a day, on $name", ({ name, worker, client: clock, isClockRight, disturb }) => {
  it("fires no timer and no retry before its time by the store's clock, and loses none", { timeout: 300_000 }, async ({ skip }) => {
    if (findFakeTime() === undefined) notTested(`${fakeTimePackage} is not installed: scripts/services up, or apt-get install`, skip);
    const client = { ...clock, openAtOnce: 24, only: ["timer", "retrying", "asking", "parent"] };
    const ended = await run({ ...(await bench(name, skip)), workers: 3, clients: 1, worker, client, isClockRight }, disturb);
    console.log(reportRun(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    // the log shows that the clocks really jumped
    expect(Math.max(...ended.lines.map(({ at, takenFor }) => Math.abs(takenFor - at)))).toBeGreaterThan(23 * hourMs);
    const events = ended.stored.executions.flatMap(({ rows }) => rows.map(({ event }) => event));
    expect(events.filter((event) => event.type === "resumed" && event.by === "timer").length).toBeGreaterThan(10);
    expect(events.filter((event) => event.type === "failed" && event.retryAt !== null).length).toBeGreaterThan(10);
  });
});
