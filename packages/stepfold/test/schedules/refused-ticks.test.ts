import { afterEach, describe, expect, it } from "vitest";
import type { ScheduleSpec } from "../../src/runtime/context/schedules.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { altered } from "../../src/testing/broken/broken-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { dying } from "../runtime/runtime.fixture.ts";
import { at, closeAll, hour, minute, quick, scheduling, second, slow, startsOf, tellable } from "./schedules.fixture.ts";

afterEach(closeAll);

/** Its key is not in the default input, so that every start of it is refused, which only the start notices. */
const keyed = { ...quick, id: "keyed", concurrency: { key: "{{ input.customer }}", limit: 1 } };
const timed = { ...quick, id: "timed", timeout: "{{ input.timeout }}" };
const strict = { ...quick, id: "strict", input: { type: "number" } } as const;
const twoFirst = { ...quick, id: "twoFirst", nodes: [...quick.nodes, { id: "other", type: "noop" }] };
const workflows = [quick, slow, strict, keyed, timed, twoFirst] as never;
const tick = "2026-01-01T01:00:00Z";

/** Why a tick cannot be started: its specification, what was there before, and the code. */
const refusals: readonly [string, ScheduleSpec, string, boolean][] = [
  ["its id is taken", { workflow: "quick" }, "START_CONFLICT", true],
  ["its workflow is unknown", { workflow: "unknown" }, "DEFINITION_UNKNOWN", false],
  ["its input does not fit", { workflow: "strict", input: "text" }, "INPUT_INVALID", false],
  ["the input lacks the concurrency key", { workflow: "keyed" }, "INPUT_INVALID", false],
  ["the input lacks the timeout", { workflow: "timed" }, "INPUT_INVALID", false],
  ["its workflow has two first nodes", { workflow: "twoFirst" }, "START_AMBIGUOUS", false],
];

/** Which tick it is: the schedule ends with it, at once or by a later edit, or goes on. */
const ends: readonly [string, Partial<ScheduleSpec>, string][] = [
  ["the only one", { at: tick }, "ended"],
  ["the last one of a count", { every: "1h", count: 1 }, "ended"],
  ["the last one before the end", { every: "1h", endAt: "2026-01-01T01:30:00Z" }, "ended"],
  ["one of many", { every: "1h" }, "active"],
];

describe.each(refusals)("a tick that is refused because %s", (_, spec, code, isTaken) => {
  it.each(ends)("is told where it is %s, and counts neither as started nor as running", async (__, rule, status) => {
    for (const overlap of ["skip", "queue", "cancel", "allow"] as const) {
      const { runtime, store, environment } = scheduling({ workflows });
      if (isTaken) await runtime.start("quick", { workflowId: `s@${tick}`, tenant: "evil", input: {} });
      await runtime.schedules.create("s", { ...spec, ...rule, overlap });
      await environment.advance(hour + 10 * minute);
      const { problems, ...described } = await runtime.schedules.describe("s");
      expect(problems).toMatchObject([{ at: at("01T01:00:00Z"), workflowId: `s@${tick}`, code }]);
      expect(described).toMatchObject({ status, running: [], counts: { started: 0, skipped: 0, missed: 0 } });
      expect(await startsOf(store, "s")).toHaveLength(isTaken ? 1 : 0);
      closeAll();
    }
  });

  it("is told where an edit ends the schedule after the tick was decided, and before its start is refused", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const { part, tell } = tellable();
    scheduling({ store, workflows, drive: false, schedules: part }, environment);
    const end = (): Promise<void> => tell("s", { type: "edit", at: environment.now(), changes: { endAt: at("01T01:30:00Z") } });
    let decided = 0;
    const seen = altered(store, {
      async commit(commit) {
        await store.commit(commit);
        const isDecision = commit.events.some((event) => event.type === "completed" && event.sends);
        if (isDecision && decided++ === 0) await end();
      },
    });
    const { runtime } = scheduling({ store: seen, workflows }, environment);
    if (isTaken) await runtime.start("quick", { workflowId: `s@${tick}`, input: {} });
    await runtime.schedules.create("s", { ...spec, every: "1h" });
    await environment.advance(hour + 10 * minute);
    // the check before the decision has refused the start
    if (decided === 0) await end();
    await environment.advance(minute);
    expect(await runtime.schedules.describe("s")).toMatchObject({ status: "ended", problems: [{ code }], counts: { started: 0 } });
  });

  it("is told for a trigger too", async () => {
    const { runtime, environment, store } = scheduling({ workflows });
    await runtime.schedules.create("s", { ...spec, every: "1h" });
    const { workflowId } = await runtime.schedules.trigger("s");
    await environment.advance(10 * minute);
    const isStarted = (await store.load(workflowId)) !== null;
    expect(isStarted).toBe(isTaken);
    const { problems, counts } = await runtime.schedules.describe("s");
    expect(problems).toMatchObject(isStarted ? [] : [{ workflowId, code }]);
    expect(counts.started).toBe(isStarted ? 1 : 0);
  });
});

describe("the number of started executions", () => {
  it("counts only those that the schedule has begun, not those that a backfill found", async () => {
    for (const overlap of ["queue", "allow"] as const) {
      const { runtime, store, environment } = scheduling();
      await runtime.start("quick", { workflowId: "s@2025-12-31T23:00:00Z" });
      await runtime.schedules.create("s", { workflow: "quick", every: "1h" });
      await environment.advance(3 * hour + minute);
      await store.delete("s@2026-01-01T02:00:00Z");
      await runtime.schedules.backfill("s", { from: at("01T00:00:00Z") - 3 * hour, to: at("01T03:00:00Z"), overlap });
      await environment.advance(minute);
      const { counts, running, problems } = await runtime.schedules.describe("s");
      // three by ticks, three by the backfill: 21:00, 22:00 and 00:00
      expect(counts.started).toBe(6);
      expect(running).toEqual([]);
      expect(problems.map(({ code, workflowId }) => `${workflowId} ${code}`)).toEqual([
        "s@2025-12-31T23:00:00Z START_CONFLICT",
        "s@2026-01-01T02:00:00Z WORKFLOW_EXISTS",
      ]);
      expect(await startsOf(store, "s")).toHaveLength(6);
      closeAll();
    }
  });

  it("counts one once, also if the worker dies between its start and the note of it", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const first = dying(environment);
    const seen = altered(store, {
      async create(commit, options) {
        const claim = await store.create(commit, options);
        if (commit.workflowId === `s@${tick}`) first.die();
        return claim;
      },
    });
    const { runtime } = scheduling({ store: seen, environment: first.environment, leaseMs: 10 * second }, environment);
    await runtime.schedules.create("s", { workflow: "slow", input: { for: "5m" }, at: tick });
    await environment.advance(hour + second);
    const next = scheduling({ store, leaseMs: 10 * second }, environment);
    await environment.advance(2 * minute);
    expect(await next.runtime.schedules.describe("s")).toMatchObject({ status: "ended", counts: { started: 1 }, problems: [] });
    expect(await startsOf(store, "s")).toHaveLength(1);
  });

  it("is that of a tenant: an execution of a schedule of the same name that belonged to another one is not found, but in the way", async () => {
    const { runtime, environment } = scheduling();
    const { schedules: all } = runtime;
    const spec = { workflow: "quick", every: "1h" } as const;
    await all.create("s", spec, { tenant: "acme" });
    await environment.advance(hour + minute);
    await all.delete("s");
    await all.create("s", spec, { tenant: "other" });
    await all.backfill("s", { from: at("01T01:00:00Z"), to: at("01T01:00:00Z") });
    await environment.advance(minute);
    expect(await all.describe("s")).toMatchObject({ counts: { started: 0 }, running: [], problems: [{ code: "START_CONFLICT" }] });
  });
});
