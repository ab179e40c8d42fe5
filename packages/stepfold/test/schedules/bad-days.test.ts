import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import type { ScheduleSpec } from "../../src/runtime/context/schedules.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../src/stores/databases/sqlite/sqlite-store.ts";
import { altered } from "../../src/testing/broken/broken-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { dying } from "../runtime/runtime.fixture.ts";
import { at, closeAll, day, hour, minute, quick, scheduling, second, slow, startsOf } from "./schedules.fixture.ts";

afterEach(closeAll);

const hourly = { workflow: "quick", every: "1h" };

describe("a tick that cannot be started", () => {
  it("is a problem that the schedule knows, where its id is taken, and the next ones are started", async () => {
    const { runtime, store, environment, problems } = scheduling();
    await runtime.start("quick", { workflowId: "s@2026-01-01T01:00:00Z", input: "somebody else" });
    await runtime.schedules.create("s", { ...hourly, overlap: "queue" });
    await environment.advance(2 * hour + minute);
    expect(await runtime.schedules.describe("s")).toMatchObject({
      running: [],
      problems: [{ at: at("01T01:00:00Z"), workflowId: "s@2026-01-01T01:00:00Z", code: "START_CONFLICT" }],
    });
    expect(problems).toEqual(["s@2026-01-01T01:00:00Z START_CONFLICT"]);
    expect(await store.load("s@2026-01-01T01:00:00Z")).toMatchObject({ output: "somebody else" });
    expect(await startsOf(store, "s")).toHaveLength(2);
  });

  it("is a problem too where the input does not fit", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", { workflow: "strict", every: "1h", input: "text" });
    await environment.advance(12 * hour);
    const { problems, counts } = await runtime.schedules.describe("s");
    expect(problems).toHaveLength(10);
    expect(problems.at(-1)).toMatchObject({ workflowId: "s@2026-01-01T12:00:00Z", code: "INPUT_INVALID" });
    expect(counts.started).toBe(0);
    expect(await startsOf(store, "s")).toEqual([]);
  });

  it("is left to a worker that knows the workflow, and a problem only after minutes without one", async () => {
    const environment = virtualEnvironment();
    const old = scheduling({ workflows: [slow] }, environment);
    await old.runtime.schedules.create("s", { ...hourly, overlap: "allow" });
    await environment.advance(hour + 10 * second);
    expect(await startsOf(old.store, "s")).toEqual([]);
    const next = scheduling({ store: old.store }, environment);
    await old.runtime.close({ timeoutMs: 1 });
    await environment.advance(minute);
    expect(await startsOf(old.store, "s")).toEqual(["2026-01-01T01:00:00Z"]);
    await next.runtime.close({ timeoutMs: 1 });
    const last = scheduling({ store: old.store, workflows: [] }, environment);
    await environment.advance(2 * hour);
    expect((await last.runtime.schedules.describe("s")).problems[0]).toMatchObject({ code: "DEFINITION_UNKNOWN", at: at("01T02:00:00Z") });
  });

  it.each<[string, ScheduleSpec]>([
    ["a tick", { workflow: "quick", every: "1h", overlap: "queue" }],
    ["the last tick", { workflow: "quick", at: "2026-01-01T01:00:00Z" }],
  ])("%s that was decided is started although the next worker does not know the workflow", async (_, spec) => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const first = dying(environment);
    const create: SnapshotStore["create"] = async (commit, options) => {
      if (commit.head.definition.id !== "quick") return store.create(commit, options);
      first.die();
      throw new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "the process dies" });
    };
    const deciding = scheduling({ store: altered(store, { create }), environment: first.environment, leaseMs: 10 * second }, environment);
    await deciding.runtime.schedules.create("s", spec);
    await environment.advance(hour + second);
    const old = scheduling({ store, workflows: [slow], leaseMs: 10 * second }, environment);
    await environment.advance(30 * second);
    expect(await startsOf(store, "s")).toEqual([]);
    expect(old.problems).toContain("s@2026-01-01T01:00:00Z DEFINITION_UNKNOWN");
    await old.runtime.close({ timeoutMs: 1 });
    const { runtime } = scheduling({ store, leaseMs: 10 * second }, environment);
    await environment.advance(5 * minute);
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T01:00:00Z"]);
    expect(await runtime.schedules.describe("s")).toMatchObject({ problems: [], counts: { started: 1 } });
  });

  it("that was deleted since is a problem, and no second start", async () => {
    const { runtime, store, environment } = scheduling();
    await runtime.schedules.create("s", hourly);
    await environment.advance(hour + minute);
    await store.delete("s@2026-01-01T01:00:00Z");
    await runtime.schedules.backfill("s", { from: at("01T01:00:00Z"), to: at("01T01:00:00Z") });
    await environment.advance(minute);
    expect(await startsOf(store, "s")).toEqual([]);
    expect(await runtime.schedules.describe("s")).toMatchObject({ problems: [{ code: "WORKFLOW_EXISTS" }], running: [] });
  });
});

describe("a schedule", () => {
  it("may get hundreds of commands at once", async () => {
    const { runtime, environment } = scheduling({ drive: false });
    await runtime.schedules.create("s", hourly);
    await Promise.all(Array.from({ length: 200 }, (_, i) => runtime.schedules.edit("s", { input: i })));
    runtime.work();
    await environment.advance(second);
    expect(await runtime.schedules.describe("s")).toMatchObject({ generation: 201, spec: { input: 199 } });
    expect(JSON.stringify(await (await runtime.get("schedule:s")).snapshot()).length).toBeLessThan(10_000);
  });

  it("cannot be used by a workflow: it has no node of this type, and cannot start one", async () => {
    const mine = { id: "mine", nodes: [{ id: "tick", type: "schedule" }], edges: [] };
    expect(() => scheduling({ workflows: [mine] })).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
    const { runtime } = scheduling();
    await expect(runtime.start("stepfold-schedule")).rejects.toMatchObject({ code: "DEFINITION_UNKNOWN" });
    const starts = {
      id: "starts",
      nodes: [{ id: "go", type: "workflow", data: { workflow: "{{ 'stepfold-schedule' }}", detached: true } }],
      edges: [],
    };
    await expect((await runtime.start(starts)).result()).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
  });
});

describe("several processes", () => {
  it("start each tick once, on one database, and one that is dropped is replaced", async () => {
    const environment = virtualEnvironment();
    const store = sqliteStore(":memory:", { now: () => environment.now() });
    const first = dying(environment);
    const workflows = [quick, slow];
    const one = scheduling({ store, workflows, environment: first.environment, leaseMs: 30 * second }, environment);
    scheduling({ store, workflows, leaseMs: 30 * second }, environment);
    const { schedules: all } = one.runtime;
    for (const name of ["a", "b", "c"]) await all.create(name, { ...hourly, every: "10m" });
    await environment.advance(hour + minute);
    first.die();
    await environment.advance(hour);
    for (const name of ["a", "b", "c"]) {
      const starts = await startsOf(store, name);
      expect(starts).toHaveLength(12);
      expect(new Set(starts).size).toBe(12);
      for (const start of starts) expect((await store.load(`${name}@${start}`))?.status).toBe("completed");
    }
    closeAll();
    await environment.settle();
  });

  it("leave schedules to those that can have them", async () => {
    const environment = virtualEnvironment();
    const { runtime, store } = scheduling({ drive: false }, environment);
    await runtime.schedules.create("s", hourly);
    const old = scheduling({ store, schedules: undefined }, environment);
    await environment.advance(minute);
    expect((await store.load("schedule:s"))!.version).toBe(0);
    scheduling({ store }, environment);
    await old.runtime.close({ timeoutMs: 1 });
    await environment.advance(2 * hour);
    expect(await startsOf(store, "s")).toEqual(["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"]);
  });
});

describe("a schedule that lives long", () => {
  it("goes on run after run, keeps its id, and loses no tick and no command", async () => {
    const { runtime, store, environment, problems } = scheduling({ limits: { steps: 400 } });
    await runtime.schedules.create("s", { workflow: "slow", every: "1m", input: { for: "30s" } });
    await runtime.schedules.create("other", hourly);
    await environment.advance(5 * hour);
    const before = await runtime.schedules.describe("s");
    expect(before.workflowId).toBe("schedule:s");
    expect((await store.loadHead("schedule:s"))?.run?.number).toBeGreaterThanOrEqual(5);
    expect(before.counts.started).toBeGreaterThanOrEqual(299);
    expect((await runtime.schedules.list()).items.map(({ name }) => name).sort()).toEqual(["other", "s"]);
    // executions of the first ticks are deleted, and an execution that was started long before still reports its end
    await runtime.prune({ before: environment.now() - hour });
    await runtime.schedules.edit("s", { every: "30m", input: { for: "3h" } });
    await environment.advance(hour);
    await runtime.schedules.edit("s", { every: "1m" });
    await environment.advance(3 * hour);
    const after = await runtime.schedules.describe("s");
    expect(after.generation).toBe(3);
    expect(after.counts.skipped).toBeGreaterThan(100);
    expect(after.counts.started - before.counts.started).toBeLessThan(5);
    expect(problems).toEqual([]);
  });

  it("tells of a refused start also while it goes on", async () => {
    const { runtime, environment, store } = scheduling({ limits: { steps: 8 } });
    for (const hours of [1, 2, 3, 4]) await runtime.start("quick", { workflowId: `s@2026-01-01T0${hours}:00:00Z`, input: "mine" });
    await runtime.schedules.create("s", hourly);
    await environment.advance(6 * hour);
    const { problems } = await runtime.schedules.describe("s");
    expect(problems).toHaveLength(4);
    expect((await store.loadHead("schedule:s"))?.run?.number).toBeGreaterThan(1);
  });

  it("ticks a year in Vienna, at two o'clock by the clock on the wall, each day once", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const { runtime } = scheduling({ store, pollMs: 2 * hour }, environment);
    await runtime.schedules.create("s", { workflow: "quick", cron: "30 2 * * *", zone: "Europe/Vienna" });
    await environment.advance(365 * day);
    const starts = await startsOf(store, "s");
    expect(starts).toHaveLength(365);
    expect(new Set(starts.map((start) => start.slice(0, 10))).size).toBe(365);
    const hours = Map.groupBy(starts, (start) => start.slice(11));
    // winter time, summer time, and the night in which 02:30 does not exist
    expect(new Map([...hours].map(([time, all]) => [time, all.length]))).toEqual(
      new Map([
        ["01:30:00Z", 154],
        ["00:30:00Z", 210],
        ["01:00:00Z", 1],
      ]),
    );
  });
});
