import { describe, expect, it } from "vitest";
import { bench } from "./kill9/bench.ts";
import { until } from "./kill9/fleet.ts";
import { faultsOf, noFaults } from "./kill9/outcome.ts";
import { reportRun } from "./kill9/report.ts";
import { run } from "./kill9/run.ts";

/** The lease is so long that no execution is taken over because a lease ran out. */
const leaseMs = 120_000;
/** The longest time until another worker takes over; much longer than a poll interval. */
const soonMs = 30_000;

describe.each(["sqlite", "postgres"])("SIGTERM to a worker on %s", (name) => {
  it("lets the steps under way finish, and gives the rest back for others to go on at once", { timeout: 300_000 }, async ({ skip }) => {
    const { folder, target } = await bench(name, skip);
    // these workflows have no retries, so a second call with the same key is a repetition
    const client = { openAtOnce: 16, only: ["line", "fork"] };
    const worker = { leaseMs, pace: { mostMs: 1_000 } };
    const ended = await run({ target, folder, workers: 3, clients: 1, worker, client }, async (fleet) => {
      const [leaving] = [...fleet.members].filter(({ kind }) => kind === "worker");
      await until("it holds something", 30_000, async () => (await target.heldBy(leaving!.name)).length > 2);
      const held = await target.heldBy(leaving!.name);
      await fleet.end(leaving!);
      expect(await target.heldBy(leaving!.name)).toEqual([]);
      return { name: leaving!.name, held, endedAt: Date.now() };
    });
    console.log(reportRun(ended).join("\n"));
    expect(faultsOf(ended)).toEqual(noFaults);
    const { name: left, held, endedAt } = ended.made;
    const called = ended.lines.flatMap((line) => (line.what === "called" ? [line] : []));
    const own = new Set(called.flatMap(({ by, key }) => (by === left ? [key] : [])));
    expect(own.size).toBeGreaterThan(0);
    expect(called.filter(({ by, key }) => by !== left && own.has(key))).toEqual([]);
    const ends = ended.stored.executions
      .filter(({ workflowId }) => held.some((one) => one.workflowId === workflowId))
      .map(({ rows }) => rows.at(-1)!.event.at);
    expect(Math.max(...ends) - endedAt).toBeLessThan(soonMs);
  });
});
