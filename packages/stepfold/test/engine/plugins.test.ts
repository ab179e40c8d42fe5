import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { fold } from "../../src/core/transition/apply.ts";
import type { Plugin } from "../../src/engine/plugin.ts";
import { type StreamItem, WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { asking, engineOf, failing, giving } from "./engine.fixture.ts";
import { settled } from "./virtual-environment.fixture.ts";

const policy = { maxAttempts: 2, interval: 0, backoff: "fixed" } as const;

describe("SUITES 2: a plugin", () => {
  const listening = () => {
    const told: string[] = [];
    return { told, plugins: [{ onEvent: ({ type, version }: Event) => told.push(`${type} ${version}`) }] };
  };

  it("hears every event of an engine, also those that a call opens with", async () => {
    const { told, plugins } = listening();
    const { engine } = engineOf({ a: asking(), b: giving(1) }, ["a>b"], { plugins });
    const paused = await engine.execute({});
    const resumed = await engine.send(paused, { type: "resume", payload: 1 });
    await engine.send(resumed, { type: "signal", name: "paid" });
    await engine.execute({ snapshot: paused, externalPayload: 1 });
    expect(told).toEqual(["started 0", "suspended 1", "resumed 2", "signalled 3", "resumed 2", "completed 3", "completed 4"]);
  });
});

describe("SUITES 5: what is no option", () => {
  const options = { workflow: { id: "w", nodes: [{ id: "a", type: "a" }], edges: [] }, nodeDefinitions: { a: { executor: giving(1) } } };

  it.each([
    ["an option of the engine", { validator: {} }, "validator"],
    ["a misspelt one", { stepTimeout: 5 }, 'Did you mean "stepTimeoutMs"?'],
    ["a hook that is none", { plugins: [{ name: "old", onNodeError: () => 1 }] }, "onNodeError"],
  ])("is refused: %s", (_, more, says) => {
    expect(() => new WorkflowEngine({ ...options, ...more } as never)).toThrow(
      expect.objectContaining({ code: "OPTION_UNKNOWN", message: expect.stringContaining(says) }),
    );
  });

  it("is refused by a runtime too", () => {
    const store = memoryStore();
    expect(() => createRuntime({ store, nodeDefinitions: {}, pollms: 5 } as never)).toThrow(
      expect.objectContaining({ code: "OPTION_UNKNOWN", message: expect.stringContaining('Did you mean "pollMs"?') }),
    );
  });

  it("may be a plugin's own", () => {
    expect(new WorkflowEngine({ ...options, plugins: [{ name: "mine", counts: 5, only: true } as Plugin] } as never)).toBeDefined();
  });
});

describe("plugins", () => {
  it("are told of tasks, outcomes, errors, heartbeats and events", async () => {
    const told: string[] = [];
    const plugin: Plugin = {
      name: "diary",
      beforeNode: ({ nodeId, type, workflowId, attempt, stepPath }) =>
        told.push(`before ${nodeId} ${type} ${workflowId} ${attempt} ${stepPath.join()}`),
      afterNode: ({ nodeId }, { type }) => told.push(`after ${nodeId} ${type}`),
      onError: (thrown, { nodeId }) => told.push(`error ${nodeId} ${(thrown as Error).message}`),
      onHeartbeat: (progress, { nodeId }) => told.push(`heartbeat ${nodeId} ${JSON.stringify(progress)}`),
      onEvent: ({ type, version }, { workflowId }) => told.push(`event ${type} ${version} ${workflowId}`),
    };
    const { engine } = engineOf(
      {
        a: (_, step) => {
          step.heartbeat({ done: 1 });
          return { data: 1 };
        },
        b: { retryPolicy: policy, executor: failing() },
      },
      ["a>b"],
      { plugins: [plugin] },
    );
    await engine.execute({ workflowId: "w" });
    expect(told).toEqual([
      "event started 0 w",
      "before a a-type w 1 ",
      'heartbeat a {"done":1}',
      "after a completed",
      "event completed 1 w",
      "before b b-type w 1 a",
      "error b busy",
      "after b failed",
      "event failed 2 w",
      "before b b-type w 2 a",
      "error b busy",
      "after b failed",
      "event failed 3 w",
    ]);
  });

  it("that throw, reject, or are of another make change nothing", async () => {
    const broken = (): never => {
      throw new Error("plugin");
    };
    const late = async (): Promise<never> => {
      throw new Error("plugin");
    };
    const thenable = (): unknown => ({ then: () => undefined });
    const plugins = [broken, late, thenable].map(
      (hook): Plugin => ({ beforeNode: hook, afterNode: hook, onError: hook, onEvent: hook, onHeartbeat: hook }),
    );
    const code = {
      a: giving(1),
      b: {
        retryPolicy: policy,
        executor: (_: never, step: { heartbeat: () => void }) => {
          step.heartbeat();
          throw new Error("busy");
        },
      },
      c: giving(2),
    };
    const watched = await engineOf(code, ["a>b", "b>c@error"], { plugins }).engine.execute({});
    await settled();
    expect(watched).toEqual(await engineOf(code, ["a>b", "b>c@error"]).engine.execute({}));
    expect(watched.status).toBe("completed");
  });

  it("cannot change what they are told of", async () => {
    const plugin: Plugin = {
      beforeNode: (task) => {
        (task.stepPath as string[]).push("x");
        Object.assign(task, { nodeId: "b" });
      },
      afterNode: (_, outcome) => {
        Object.assign(outcome, { output: "forged" });
      },
    };
    const { engine } = engineOf({ a: giving("real"), b: giving("b") }, ["a>b"], { plugins: [plugin] });
    const snapshot = await engine.execute({ stepLimit: 1 });
    expect(snapshot).toMatchObject({ currentNodeId: "b", context: { a: [{ output: "real" }] }, activePaths: [{ stepPath: ["a"] }] });
  });
});

describe("stream", () => {
  const collect = async (stream: AsyncGenerator<StreamItem, unknown, void>): Promise<StreamItem[]> => {
    const items: StreamItem[] = [];
    for await (const item of stream) items.push(item);
    return items;
  };

  it("gives every event, each with the snapshot after it, and at last the snapshot that execute gives", async () => {
    const { engine } = engineOf({ f: giving(1), a: giving(2), b: async () => ({ data: 3 }), c: asking() }, ["f>a", "f>b", "a>c"]);
    const stream = engine.stream({ workflowId: "w" });
    const items: StreamItem[] = [];
    let step = await stream.next();
    for (; !step.done; step = await stream.next()) items.push(step.value);
    expect(items.map(({ event }) => event.version)).toEqual([0, 1, 2, 3, 4]);
    expect(step.value).toMatchObject({ status: "paused", version: 4 });
    expect(items.at(-1)?.snapshot).toEqual(step.value);
  });

  it("gives with each event the snapshot of that very version, also where several settle at once", async () => {
    const { engine } = engineOf({ f: giving(1), a: giving(2), b: giving(3), c: giving(4) }, ["f>a", "f>b", "f>c"]);
    const items = await collect(engine.stream({}));
    expect(items.map(({ snapshot }) => snapshot.version)).toEqual([0, 1, 2, 3, 4]);
    const [first, ...rest] = items.map(({ event }) => event);
    items.forEach(({ snapshot }, i) => {
      expect(fold(engine.workflow, [first as never, ...(rest.slice(0, i) as Event[])])).toEqual(snapshot);
    });
  });

  it("begins with what resumed the execution", async () => {
    const { engine } = engineOf({ a: asking() });
    const items = await collect(engine.stream({ snapshot: await engine.execute({}), externalPayload: 1 }));
    expect(items.map(({ event, snapshot }) => `${event.type} ${snapshot.version}`)).toEqual(["resumed 2", "completed 3"]);
  });

  it("ends the turn when the loop is left, and the snapshot seen last can go on", async () => {
    const aborted: boolean[] = [];
    const { engine } = engineOf(
      {
        a: giving(1),
        b: (_, step) => {
          aborted.push(step.signal.aborted);
          step.signal.addEventListener("abort", () => aborted.push(true));
          return aborted.length === 1 ? new Promise<never>(() => undefined) : { data: 2 };
        },
      },
      ["a>b"],
    );
    let last: StreamItem | undefined;
    for await (const item of engine.stream({})) {
      last = item;
      if (item.event.type === "completed") break;
    }
    await settled();
    expect(aborted).toEqual([false, true]);
    expect(await engine.execute({ snapshot: last!.snapshot })).toMatchObject({ status: "completed", output: 2, version: 2 });
  });

  it.each<[string, (stream: AsyncGenerator<StreamItem, Snapshot, void>) => PromiseLike<unknown>]>([
    ["return", (stream) => stream.return(null as never)],
    ["throw", (stream) => stream.throw(new Error("gone")).catch(() => undefined)],
    ["dispose", (stream) => stream[Symbol.asyncDispose]()],
  ])("ends the turn when it is left by %s while a step runs: nothing waits for that step", async (_, leave) => {
    const signals: AbortSignal[] = [];
    const { engine } = engineOf({
      a: (_input, { signal }) => {
        signals.push(signal);
        return new Promise<never>(() => undefined);
      },
    });
    const stream = engine.stream({});
    await stream.next();
    const pending = stream.next();
    await settled();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await leave(stream);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await pending).toMatchObject({ done: true, value: { status: "active", version: 0 } });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("begins nothing if it is left before it was asked for anything", async () => {
    let calls = 0;
    const { engine } = engineOf({ a: () => ({ data: calls++ }) });
    const stream = engine.stream({});
    await stream.return(null as never);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(calls).toBe(0);
  });

  it("ends also when the caller's signal is aborted", async () => {
    const stop = new AbortController();
    const { engine } = engineOf({ a: () => new Promise<never>(() => undefined) });
    const items = collect(engine.stream({ signal: stop.signal }));
    await settled();
    stop.abort();
    expect((await items).map(({ event }) => event.type)).toEqual(["started"]);
  });

  it("throws what execute would throw", async () => {
    const { engine } = engineOf({ a: giving(1) });
    await expect(collect(engine.stream({ snapshot: {} }))).rejects.toMatchObject({ code: "SNAPSHOT_INVALID" });
  });
});
