import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { bench } from "./kill9/bench.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { reportRun } from "./kill9/report.ts";
import { run } from "./kill9/run.ts";

describe.each(["sqlite", "postgres"])("processes whose clocks jump by up to a day, on %s", (name) => {
  it("fire no timer and no retry before its time by the store's clock, and lose none", { timeout: 300_000 }, async ({ skip }) => {
    const wrong = { clockJumps: true };
    const client = { ...wrong, openAtOnce: 24, only: ["timer", "retrying", "asking", "parent"] };
    const ended = await run({ ...(await bench(name, skip)), workers: 3, clients: 1, worker: wrong, client }, () => sleep(4_000));
    console.log(reportRun(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    const events = ended.stored.executions.flatMap(({ rows }) => rows.map(({ event }) => event));
    expect(events.filter((event) => event.type === "resumed" && event.by === "timer").length).toBeGreaterThan(10);
    expect(events.filter((event) => event.type === "failed" && event.retryAt !== null).length).toBeGreaterThan(10);
  });
});
