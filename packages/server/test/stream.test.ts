import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineNode, type SnapshotStore, systemEnvironment, type WorkflowDefinition } from "stepfold";
import type { StreamFrame } from "stepfold/client";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { sqliteStore } from "stepfold/stores/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { liveEvents } from "../src/index.ts";
import { FrameStream } from "../src/live/frame-stream.ts";
import { served } from "./served.fixture.ts";
import { clientOf, counting, isEnd, until, upTo, versionsOf, workflows } from "./streams.fixture.ts";

/** A store whose summaries can be held back for a while. */
function withHeldSummaries(store: SnapshotStore): { store: SnapshotStore; holdSummaries: () => () => void } {
  let held = Promise.resolve();
  return {
    store: { ...store, summaries: (ids) => held.then(() => store.summaries!(ids)) },
    holdSummaries() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
  };
}

/** Counts the calls of a store. */
function counted(store: SnapshotStore): { store: SnapshotStore; reads: () => number } {
  let reads = 0;
  const events: SnapshotStore["events"] = (...args) => {
    reads++;
    return store.events(...args);
  };
  return { store: { ...store, events }, reads: () => reads };
}

function fileStore(): () => SnapshotStore {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-server-"));
  const stores: SnapshotStore[] = [];
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const store = sqliteStore(join(folder, "a.db"));
    stores.push(store);
    return store;
  };
}

describe("the stream of an execution", () => {
  it("tells every event once and in order, those of the past and those to come, and then its state", async () => {
    const all = await served({ workflows });
    const run = await all.runtime.start("ask", { workflowId: "a/b", input: { order: 7 } });
    await run.waitFor("paused");
    const frames = until(clientOf(all).stream({ executions: ["a/b"] }), isEnd);
    await run.resume({ payload: { approved: true } });
    await run.result();
    const told = await frames;
    expect(versionsOf(told)).toEqual([0, 1, 2, 3, 4]);
    expect(told[0]).toMatchObject({ type: "link", isLive: true });
    expect(told.at(-1)).toMatchObject({ type: "head", execution: "a/b", view: { status: "completed", output: { order: 7 } } });
  });

  it("goes on behind the last frame after a cut, and drops and doubles nothing", async () => {
    const all = await served({ workflows });
    const run = await all.runtime.start("counting", { workflowId: "a", input: { to: 20 } });
    const first = await until(clientOf(all).stream({ executions: ["a"] }), (_, frames) => versionsOf(frames).length === 5);
    const last = first.at(-1) as { id?: string };
    expect(last.id).toMatch(/^4\./);
    await run.result();
    const { version } = await run.snapshot();
    const rest = await until(clientOf(all).stream({ executions: ["a"] }, { after: last.id! }), isEnd);
    expect([...versionsOf(first), ...versionsOf(rest)]).toEqual(upTo(version));
  });

  it("tells what another process has done on the same store", async () => {
    const open = fileStore();
    const all = await served({ workflows, store: open(), runtimeOptions: { drive: false } });
    const other = createRuntime({ store: open(), workflows, nodeDefinitions: { ...builtinNodes }, pollMs: 20 });
    const run = await other.start("ask", { workflowId: "a", input: {} });
    await run.waitFor("paused");
    const frames = until(clientOf(all).stream({ executions: ["a"] }), isEnd);
    await run.resume({ payload: { approved: false } });
    expect(versionsOf(await frames)).toEqual([0, 1, 2, 3, 4]);
    await other.close();
  });

  it("reads nothing that the process which runs it has told", async () => {
    const live = liveEvents();
    const { store, reads } = counted(memoryStore());
    const gate = Promise.withResolvers<void>();
    const gated = {
      ...counting,
      id: "gated",
      nodes: [{ id: "wait", type: "gate" }, ...counting.nodes],
      edges: [{ source: "wait", target: "count" }, ...counting.edges],
      start: "wait",
    } as WorkflowDefinition;
    const nodeDefinitions = { gate: defineNode({ executor: () => gate.promise.then(() => ({ data: null })) }) };
    const all = await served({ workflows: [gated], store, live, plugins: [live.plugin], nodeDefinitions });
    const run = await all.runtime.start("gated", { workflowId: "a", input: { to: 100 } });
    let before = 0;
    const frames = until(clientOf(all).stream({ executions: ["a"] }), (frame) => {
      // the first state has come: from here on everything is told
      if (frame.type === "head" && before === 0) {
        before = reads();
        gate.resolve();
      }
      return isEnd(frame);
    });
    expect(versionsOf(await frames)).toEqual(upTo((await run.snapshot()).version));
    const { version } = await run.snapshot();
    expect(version).toBeGreaterThan(200);
    expect(reads() - before).toBeLessThanOrEqual(version / 20);
  });

  it("costs one read for a commit at most, however many watch", async () => {
    const { store, reads } = counted(memoryStore());
    const all = await served({ workflows, store });
    const run = await all.runtime.start("ask", { workflowId: "a", input: {} });
    await run.waitFor("paused");
    const before = reads();
    const watching = Array.from({ length: 100 }, () => until(clientOf(all).stream({ executions: ["a"] }), isEnd));
    await expect.poll(reads).toBeGreaterThan(before);
    await run.resume({ payload: { approved: true } });
    for (const frames of await Promise.all(watching)) expect(versionsOf(frames)).toEqual([0, 1, 2, 3, 4]);
    expect(reads() - before).toBeLessThanOrEqual(5);
  });

  it("says that an execution does not exist, or no longer", async () => {
    const all = await served({ workflows, store: memoryStore() });
    const { runtime, store } = all;
    expect((await until(clientOf(all).stream({ executions: ["none"] }), ({ type }) => type === "end")).at(-1)).toEqual({
      type: "end",
      execution: "none",
      reason: "gone",
    });
    await (await runtime.start("double", { workflowId: "a", input: { n: 1 } })).result();
    const gone = await until(clientOf(all).stream({ executions: ["a"] }), (frame) => {
      if (isEnd(frame)) void store.delete("a");
      return frame.type === "end";
    });
    expect(gone.at(-1)).toMatchObject({ reason: "gone" });
  });

  it("begins anew if another execution has got the id, also if nobody has seen the moment between", async () => {
    const { store, holdSummaries } = withHeldSummaries(memoryStore({ idempotencyRetentionMs: 1 }));
    const { runtime, ...all } = await served({ workflows, store });
    await (await runtime.start("double", { workflowId: "b", input: { n: 1 } })).result();
    const replace = async (): Promise<void> => {
      const release = holdSummaries();
      await store.delete("b");
      await expect
        .poll(() =>
          runtime.start("ask", { workflowId: "b", input: { order: 2 } }).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      release();
    };
    const frames = await until(clientOf({ runtime, ...all }).stream({ executions: ["b"] }), (frame, told) => {
      if (isEnd(frame) && told.filter(isEnd).length === 1) void replace();
      return frame.type === "head" && frame.view.status === "paused";
    });
    const at = frames.findIndex(({ type }) => type === "reset");
    expect(frames[at]).toMatchObject({ type: "reset", execution: "b", reason: "replaced" });
    expect(versionsOf(frames.slice(at))).toEqual([0, 1]);
  });

  it("tells that the store is away, and goes on when it is back", async () => {
    const memory = memoryStore();
    let isAway = false;
    const away = new Proxy(memory, {
      get(target, key) {
        const member = target[key as keyof SnapshotStore];
        if (typeof member !== "function" || !["events", "summaries", "load", "loadHead"].includes(String(key))) return member;
        return (...args: unknown[]) =>
          isAway
            ? Promise.reject(Object.assign(new Error("away"), { code: "ECONNREFUSED" }))
            : (member as (...args: unknown[]) => unknown).apply(target, args);
      },
    });
    const all = await served({ workflows, store: away, runtimeOptions: { drive: false } });
    const driver = createRuntime({ store: memory, workflows, nodeDefinitions: { ...builtinNodes }, pollMs: 20 });
    const run = await driver.start("ask", { workflowId: "a", input: {} });
    await run.waitFor("paused");
    const frames = await until(clientOf(all).stream({ executions: ["a"] }), (frame, told) => {
      if (frame.type === "head" && !isAway && !told.some(({ type }) => type === "problem")) {
        isAway = true;
        void run.resume({ payload: { approved: true } });
      }
      if (frame.type === "problem") isAway = false;
      return isEnd(frame);
    });
    expect(frames.find(({ type }) => type === "problem")).toMatchObject({ type: "problem", execution: "a" });
    expect(versionsOf(frames)).toEqual([0, 1, 2, 3, 4]);
    await driver.close();
  });

  it("shows progress as it comes, and values only to those who may see them", async () => {
    const live = liveEvents();
    const gate = Promise.withResolvers<void>();
    const nodeDefinitions = {
      copy: defineNode({
        async executor(_, { heartbeat }) {
          for (let done = 1; done <= 3; done++) heartbeat({ done, file: "secret.txt" });
          await gate.promise;
          return { data: { copied: "secret.txt" } };
        },
      }),
    };
    const copying = { id: "copying", nodes: [{ id: "copy", type: "copy" }], edges: [] } as WorkflowDefinition;
    const all = await served({
      workflows: [copying],
      nodeDefinitions,
      live,
      plugins: [live.plugin],
      runtimeOptions: { drive: false },
      people: [{ name: "ada" }, { name: "looker", scopes: ["read"] }],
    });
    await all.runtime.start("copying", { workflowId: "a" });
    let watching = 2;
    const watch = (as: string): Promise<StreamFrame[]> =>
      until(clientOf(all, as).stream({ executions: ["a"] }), (frame) => {
        if (frame.type === "head" && frame.view.version === 0 && --watching === 0) all.runtime.work();
        if (frame.type === "progress" && frame.progress !== undefined) gate.resolve();
        return isEnd(frame);
      });
    const [ada, looker] = await Promise.all([watch("ada"), watch("looker")]);
    const progress = (frames: readonly StreamFrame[]): unknown =>
      frames.find((frame) => frame.type === "progress" && frame.progress !== undefined);
    expect(progress(ada)).toMatchObject({ execution: "a", nodeId: "copy", attempt: 1, progress: { done: 3 } });
    expect(progress(looker)).toMatchObject({ nodeId: "copy", progress: { "~cut": expect.any(Number) } });
    expect(JSON.stringify(looker)).not.toContain("secret.txt");
  });

  it("ends when the credentials end, and when the server closes", async () => {
    const all = await served({ workflows, people: [{ name: "ada" }, { name: "brief", expires: Date.now() + 1_500 }] });
    await (await all.runtime.start("ask", { workflowId: "a", input: {} })).waitFor("paused");
    const ended = until(clientOf(all, "brief").stream({ executions: ["a"] }), () => false);
    await expect(ended).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    const response = await all.send("/v1/stream?execution=a");
    const reader = response.body!.getReader();
    await reader.read();
    all.server.close();
    for (let done = false; !done; ) ({ done } = await reader.read());
    expect((await all.send("/v1/me")).status).toBe(503);
  });
});

describe("frames to one client", () => {
  it("are cut off if it does not read, and a sender that can wait waits for it", async () => {
    const frame = { type: "problem", code: "x".repeat(10_000) } as const;
    const waiting = new FrameStream(systemEnvironment);
    const reader = waiting.body.getReader();
    let sent = 0;
    const sending = (async () => {
      for (; sent < 500; sent++) {
        await waiting.ready();
        waiting.send(frame);
      }
    })();
    await reader.read();
    await expect.poll(() => sent).toBeGreaterThan(4);
    expect(sent).toBeLessThan(20);
    for (let bytes = 0; bytes < 500 * 10_000; ) bytes += (await reader.read()).value!.byteLength;
    await sending;

    const ended: string[] = [];
    const slow = new FrameStream(systemEnvironment);
    slow.onEnd(() => ended.push("slow"));
    for (let count = 0; count < 300 && !slow.isClosed; count++) {
      slow.send(frame);
      if (count === 90) expect(slow.isClosed).toBe(false);
    }
    expect([slow.isClosed, ended]).toEqual([true, ["slow"]]);
    await slow.ready();
    slow.send(frame);
    slow.onEnd(() => ended.push("late"));
    expect(ended).toEqual(["slow", "late"]);
    waiting.close();
  });
});

describe("several executions in one stream", () => {
  it("all get all their events, however long their histories are", async () => {
    const all = await served({ workflows });
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) await (await all.runtime.start("counting", { workflowId: id, input: { to: 120 } })).result();
    const frames = await until(clientOf(all).stream({ executions: ids }), (_, told) => told.filter(isEnd).length === ids.length);
    const { version } = await (await all.runtime.get("a")).snapshot();
    for (const id of ids)
      expect(versionsOf(frames.filter((frame) => "execution" in frame && frame.execution === id))).toEqual(upTo(version));
  });

  it("wait for a client that reads slowly, each of them", async () => {
    const stream = new FrameStream(systemEnvironment);
    const reader = stream.body.getReader();
    let sent = 0;
    const senders = [1, 2, 3, 4].map(async () => {
      for (let count = 0; count < 20; count++) {
        await stream.ready();
        stream.send({ type: "problem", code: "x".repeat(20_000) });
        sent++;
      }
    });
    const reading = (async () => {
      while (!(await reader.read()).done);
    })();
    await Promise.all(senders);
    expect(sent).toBe(80);
    stream.close();
    await reading;
  });
});

it("messages of other processes that are none are ignored", () => {
  const live = liveEvents();
  const got: unknown[] = [];
  live.listen((message) => got.push(message));
  for (const message of [
    null,
    7,
    {},
    { workflowId: "a" },
    { workflowId: "a", type: "event" },
    { workflowId: "a", type: "event", event: {} },
  ])
    live.publish(message as never);
  expect(got).toEqual([]);
});

describe("the stream of a list", () => {
  it("says that it is empty", async () => {
    const all = await served({ workflows });
    const frames = await until(clientOf(all).stream({ list: {} }), ({ type }) => type === "list");
    expect(frames.at(-1)).toMatchObject({ upsert: [], gone: [] });
  });

  it("tells its rows, then what changes, also of those that match no longer, and what is gone", async () => {
    const all = await served({ workflows });
    const { runtime, store } = all;
    const run = await runtime.start("ask", { workflowId: "a", input: {} });
    await run.waitFor("paused");
    await expect.poll(async () => (await runtime.list()).items[0]!.lease).toBe(null);
    const frames = await until(clientOf(all).stream({ list: { status: "paused" } }), (frame, told) => {
      if (frame.type !== "list") return false;
      const lists = told.filter(({ type }) => type === "list").length;
      if (lists === 1) void run.resume({ payload: { approved: true } });
      if (frame.upsert.some(({ status }) => status === "completed")) void store.delete("a");
      return frame.gone.includes("a");
    });
    const lists = frames.filter((frame) => frame.type === "list");
    expect(lists[0]).toMatchObject({ upsert: [{ workflowId: "a", status: "paused" }], gone: [], storeNow: expect.any(Number) });
    expect(lists.at(-1)).toMatchObject({ gone: ["a"] });
  });

  it("is one question to the store, however many look, and has no row of another tenant", async () => {
    let lists = 0;
    const memory = memoryStore();
    const list: SnapshotStore["list"] = (query) => {
      lists++;
      return memory.list(query);
    };
    const store: SnapshotStore = { ...memory, list };
    const people = [
      { name: "ada", tenant: "acme" },
      { name: "eve", tenant: "evil" },
    ];
    const all = await served({ workflows, store, people, runtimeOptions: { pollMs: 10_000 } });
    await all.ask("/v1/executions", { method: "POST", body: { workflow: "double", id: "a", input: { n: 1 } } });
    const isList = ({ type }: StreamFrame): boolean => type === "list";
    const streams = Array.from({ length: 50 }, () => until(clientOf(all).stream({ list: {} }), isList));
    for (const frames of await Promise.all(streams)) expect(frames.at(-1)).toMatchObject({ upsert: [{ tenant: "acme" }] });
    expect(lists).toBeLessThan(10);
    await all.ask("/v1/executions", { as: "eve", method: "POST", body: { workflow: "double", id: "e", input: { n: 1 } } });
    const [frame] = (await until(clientOf(all, "eve").stream({ list: {} }), isList)).filter(({ type }) => type === "list");
    expect(frame).toMatchObject({ upsert: [{ workflowId: '"evil"/e' }] });
  });

  it.each([
    "/v1/stream",
    "/v1/stream?list=0",
    "/v1/stream?execution=a&view=all",
    `/v1/stream?${"execution=a&".repeat(21)}`,
  ])("refuses %s", async (path) => {
    const { ask } = await served();
    expect((await ask(path)).status).toBe(400);
  });
});

it("needs the scope values for whole events", async () => {
  const { ask } = await served({ people: [{ name: "looker", scopes: ["read"] }] });
  expect((await ask("/v1/stream?execution=a&view=full")).body.code).toBe("FORBIDDEN");
});
