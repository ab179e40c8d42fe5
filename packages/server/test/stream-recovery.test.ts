import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defineNode, type Event, type SnapshotStore, systemEnvironment, type WorkflowDefinition } from "stepfold";
import type { StreamFrame } from "stepfold/client";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { sqliteStore } from "stepfold/stores/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { liveEvents } from "../src/index.ts";
import { served } from "./served.fixture.ts";
import { clientOf, isEnd, until, upTo, versionsOf, workflows } from "./streams.fixture.ts";

/** A store whose reads fail while it is away. */
function awayStore(): { readonly store: SnapshotStore; isAway: boolean } {
  const memory = memoryStore();
  const own = { isAway: false };
  const orAway =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>): ((...args: A) => Promise<R>) =>
    (...args) =>
      own.isAway ? Promise.reject(Object.assign(new Error("away"), { code: "ECONNREFUSED" })) : call(...args);
  const { load, loadHead, list, events } = memory;
  const store = { ...memory, load: orAway(load), loadHead: orAway(loadHead), list: orAway(list), events: orAway(events) };
  return Object.assign(own, { store: { ...store, summaries: orAway(memory.summaries!) } });
}

const ofType = (frames: readonly StreamFrame[], type: StreamFrame["type"]): number => frames.filter((frame) => frame.type === type).length;

describe("a stream over a store that was away", () => {
  it("tells the state of an execution again when the store is back, although nothing has happened", async () => {
    const away = awayStore();
    const all = await served({ workflows, store: away.store, runtimeOptions: { drive: false } });
    await all.runtime.start("ask", { workflowId: "a", input: {} });
    const frames = await until(clientOf(all).stream({ executions: ["a"] }), (frame, told) => {
      if (frame.type === "head" && !told.some(({ type }) => type === "problem")) away.isAway = true;
      if (frame.type === "problem") away.isAway = false;
      return frame.type === "head" && told.some(({ type }) => type === "problem");
    });
    expect(versionsOf(frames)).toEqual([0]);
    expect(ofType(frames, "link")).toBe(1);
  });

  it("tells in a list that nothing has changed", async () => {
    const away = awayStore();
    const all = await served({ workflows, store: away.store, runtimeOptions: { drive: false } });
    await all.runtime.start("ask", { workflowId: "a", input: {} });
    const frames = await until(clientOf(all).stream({ list: {} }), (frame, told) => {
      if (frame.type === "list") away.isAway = true;
      if (frame.type === "problem") away.isAway = false;
      return frame.type === "list" && ofType(told, "problem") > 0;
    });
    expect(frames.at(-1)).toMatchObject({ type: "list", upsert: [], gone: [] });
  });
});

it("a stream begins anew if the store has fallen back to an older state", async () => {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-server-"));
  const present = sqliteStore(join(folder, "a.db"));
  let store = present;
  const calls = Object.keys(present).map((name) => [name, (...args: []) => (store[name as keyof SnapshotStore] as () => unknown)(...args)]);
  const switched = { ...present, ...Object.fromEntries(calls.filter(([name]) => name !== "features")) } as SnapshotStore;
  const all = await served({ workflows, store: switched, runtimeOptions: { drive: false } });
  const driver = createRuntime({ store: present, workflows, nodeDefinitions: builtinNodes, pollMs: 20 });
  const run = await driver.start("ask", { workflowId: "a", input: { order: 1 } });
  await run.waitFor("paused");
  const database = new DatabaseSync(join(folder, "a.db"));
  database.exec(`VACUUM INTO '${join(folder, "copy.db")}'`);
  database.close();
  const older = sqliteStore(join(folder, "copy.db"));
  const onlyOlder = createRuntime({ store: older, workflows, nodeDefinitions: builtinNodes, pollMs: 20 });
  onTestFinished(async () => {
    await Promise.all([driver.close({ timeoutMs: 0 }), onlyOlder.close({ timeoutMs: 0 })]);
    await Promise.all([present.close(), older.close()]);
    rmSync(folder, { recursive: true, force: true });
  });
  const frames = await until(clientOf(all).stream({ executions: ["a"] }), (frame, told) => {
    if (frame.type === "head" && told.filter(({ type }) => type === "head").length === 1) void run.resume({ payload: { approved: true } });
    if (isEnd(frame) && store === present) store = older;
    return frame.type === "head" && told.some(({ type }) => type === "reset");
  });
  const at = frames.findIndex(({ type }) => type === "reset");
  expect(frames[at]).toMatchObject({ reason: "replaced" });
  expect([versionsOf(frames.slice(0, at)), versionsOf(frames.slice(at))]).toEqual([
    [0, 1, 2, 3, 4],
    [0, 1],
  ]);
});

it("a client that takes long to get what it has missed is told what comes then", async () => {
  let aheadMs = 0;
  const environment = { ...systemEnvironment, monotonicMs: () => systemEnvironment.monotonicMs() + aheadMs };
  const memory = memoryStore();
  let polls = 0;
  const store: SnapshotStore = {
    ...memory,
    summaries(ids) {
      polls++;
      return memory.summaries!(ids);
    },
  };
  const large = "x".repeat(20_000);
  const fill = defineNode({
    handles: ["again", "enough"],
    executor: ({ n }: { n: number }) => ({ data: { n, large }, nextHandle: n < 100 ? ("again" as const) : ("enough" as const) }),
  });
  const filling = {
    id: "filling",
    start: "fill",
    nodes: [
      { id: "fill", type: "fill", data: { n: "{{ (nodes.fill.last?.data.n ?? 0) + 1 }}" } },
      { id: "ask", type: "approval", data: { title: "Enough?" } },
    ],
    edges: [
      { source: "fill", target: "fill", sourceHandle: "again" },
      { source: "fill", target: "ask", sourceHandle: "enough" },
    ],
  } as WorkflowDefinition;
  const all = await served({ workflows: [filling], nodeDefinitions: { fill: fill as never }, store, environment });
  const run = await all.runtime.start("filling", { workflowId: "a", input: {} });
  await run.waitFor("paused");
  const events = clientOf(all).executions.watch("a");
  onTestFinished(async () => void (await events.return()));
  const first = await until({ [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }, (frame) => frame.type === "event");
  // the client reads nothing for a long time
  aheadMs = 60_000;
  const seen = polls;
  await expect.poll(() => polls).toBeGreaterThan(seen + 2);
  void run.resume({ payload: { approved: true } });
  const rest = await until(events, isEnd);
  expect([...versionsOf(first), ...versionsOf(rest)]).toEqual(upTo((await run.snapshot()).version));
  // and is not cut off because of the size of what it has missed
  expect(ofType([...first, ...rest], "link")).toBe(1);
});

it("a list is told of changes while hints come all the time, and is asked for no more than twice a second", async () => {
  const memory = memoryStore();
  let lists = 0;
  const store: SnapshotStore = {
    ...memory,
    list(query) {
      lists++;
      return memory.list(query);
    },
  };
  const live = liveEvents();
  const all = await served({ workflows, store, live, runtimeOptions: { drive: false } });
  const hints = setInterval(() => live.publish({ type: "event", workflowId: "busy", event: { version: 1 } as Event }), 10);
  onTestFinished(() => clearInterval(hints));
  const begin = performance.now();
  const frames = await until(clientOf(all).stream({ list: {} }), (frame, told) => {
    if (frame.type === "link") void all.runtime.start("ask", { workflowId: "a0", input: {} });
    const count = ofType(told, "list");
    if (frame.type === "list") void all.runtime.start("ask", { workflowId: `a${count}`, input: {} });
    return count === 4;
  });
  expect(frames.flatMap((frame) => (frame.type === "list" ? frame.upsert.map(({ workflowId }) => workflowId) : []))).toContain("a3");
  expect(lists).toBeLessThanOrEqual((performance.now() - begin) / 500 + 2);
});
