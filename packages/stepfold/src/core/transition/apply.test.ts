import { describe, expect, it } from "vitest";
import { completing, deepFreeze, eventOn, graph, pathOf, startedAt } from "../../../test/core/execution.fixture.ts";
import { readSnapshot } from "../reading/read-snapshot.ts";
import type { CompletedEvent, Event } from "../snapshot/event.ts";
import { restore } from "../snapshot/restore.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { apply, fold } from "./apply.ts";

const external = (id: string) => ({ id, kind: "external" as const, payload: { ask: "ok?" } });

describe("a new execution", () => {
  it("stands ready at its first node, with what it was started with", () => {
    const flow = graph(["a>b"]);
    const snapshot = fold(flow, [startedAt(flow, "a", { input: { x: 1 }, metadata: { tenant: "t" }, sizeBytes: 30 })]);
    expect(snapshot).toEqual({
      schema: 1,
      workflowId: "order-1",
      definition: { id: "flow", hash: flow.hash },
      status: "active",
      currentNodeId: "a",
      activePaths: [{ id: "0", nodeId: "a", status: "ready", turn: 1, visit: 1, attempts: 0, since: 0, stepPath: [] }],
      context: {},
      version: 0,
      metadata: { tenant: "t" },
      input: { x: 1 },
      steps: 0,
      sizeBytes: 30,
      historyBytes: 230,
      createdAt: 1_000,
      incarnation: "i",
    });
    expect(fold(flow, [startedAt(flow, "a")]).sizeBytes).toBe(0);
  });

  it("hands a payload to its first node as if that were resumed", () => {
    const flow = graph(["a>b"]);
    expect(fold(flow, [startedAt(flow, "a", { payload: 5 })]).activePaths[0]?.resumed).toEqual({ by: "payload", payload: 5 });
  });
});

describe("a completed step", () => {
  it("leaves its result, moves the path and counts", () => {
    const flow = graph(["a>b"]);
    const first = fold(flow, [startedAt(flow, "a")]);
    const event = { ...(eventOn(first, "0", { done: "x" }, 3_000) as CompletedEvent), sizeBytes: 7 };
    const next = apply(flow, first, event);
    expect(next).toMatchObject({
      status: "active",
      currentNodeId: "b",
      version: 1,
      steps: 1,
      sizeBytes: 7,
      lastStartedAt: 2_995,
      totalExecutionTime: 5,
    });
    expect(next.context).toEqual({ a: [{ output: "x", timestamp: 3_000, attempt: 1, pathId: "0", version: 1 }] });
    expect(next.activePaths).toEqual([
      { id: "0", nodeId: "b", status: "ready", turn: 2, visit: 2, attempts: 0, since: 1, via: "a>b", stepPath: ["a"] },
    ]);
  });

  it("ends the execution where no edge leaves, with the last output as its own", () => {
    const flow = graph(["a>b"]);
    const end = completing(flow, fold(flow, [startedAt(flow, "a")]), "0", "x", "y");
    expect(end).toMatchObject({ status: "completed", currentNodeId: null, activePaths: [], output: "y", version: 2 });
  });

  it("gives the output that the definition asks for", () => {
    const flow = graph(["a>b"], [], { output: { first: "{{ nodes.a.last.data }}", of: "{{ metadata.tenant }}" } });
    const end = completing(flow, fold(flow, [startedAt(flow, "a", { metadata: { tenant: "t" } })]), "0", "x", "y");
    expect(end.output).toEqual({ first: "x", of: "t" });
  });

  it("fails where that output cannot be made, and has none", () => {
    const flow = graph(["a>b"], [], { output: "{{ nodes.a.last.data.deep.er }}" });
    const end = completing(flow, fold(flow, [startedAt(flow, "a")]), "0", "x", "y");
    expect(end).toMatchObject({ status: "failed", error: { name: "StepfoldError", code: "EXPRESSION_FAILED" } });
    expect(end).not.toHaveProperty("output");
  });

  it("keeps as many results of a node as the node says", () => {
    const flow = graph(["a>a@again"], [{ id: "a", type: "noop", keep: 2 }]);
    let snapshot = fold(flow, [startedAt(flow, "a")]);
    for (const done of ["1", "2", "3", "4"]) snapshot = apply(flow, snapshot, eventOn(snapshot, "0", { done, handles: ["again"] }));
    expect(snapshot.context.a?.map(({ output }) => output)).toEqual(["3", "4"]);
  });

  it("remembers the last 8 nodes that the path came through", () => {
    const flow = graph(["a>b", "b>a"]);
    const far = completing(flow, fold(flow, [startedAt(flow, "a")]), "0", ...Array.from({ length: 41 }, () => "x"));
    expect(far.activePaths[0]?.stepPath).toHaveLength(8);
    expect(far.activePaths[0]?.stepPath.at(-1)).toBe("a");
    expect(far.currentNodeId).toBe("b");
  });
});

describe("a fork", () => {
  it("keeps the path on the first edge, and makes a new one of each other, in order", () => {
    const flow = graph(["f>a", "f>b", "f>c", "a>end"]);
    const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
    expect(forked.activePaths.map(({ id, nodeId, turn, visit }) => [id, nodeId, turn, visit])).toEqual([
      ["0", "a", 2, 2],
      ["0.1", "b", 1, 1],
      ["0.2", "c", 1, 1],
    ]);
    expect(pathOf(forked, "0").forks).toBe(2);
    expect(pathOf(forked, "0.2").stepPath).toEqual(["f"]);
    const apart = completing(flow, forked, "0", "moved");
    expect(pathOf(apart, "0").stepPath).toEqual(["f", "a"]);
    expect(pathOf(apart, "0.1").stepPath).toEqual(["f"]);
  });

  it("never gives an id twice, also in a loop", () => {
    const flow = graph(["f>f", "f>end"]);
    let snapshot = fold(flow, [startedAt(flow, "f")]);
    for (let i = 1; i <= 3; i++) {
      snapshot = completing(flow, snapshot, "0", "x");
      expect(snapshot.activePaths.map(({ id }) => id)).toEqual(["0", `0.${i}`]);
      snapshot = completing(flow, snapshot, `0.${i}`, "x");
    }
  });

  it("keeps ids short, however deep the forks of forks", () => {
    const flow = graph(["f>end", "f>f"]);
    let snapshot = fold(flow, [startedAt(flow, "f")]);
    for (let i = 0; i < 40; i++) snapshot = completing(flow, snapshot, snapshot.activePaths.at(-1)!.id, "x");
    const ids = snapshot.activePaths.map(({ id }) => id);
    expect(new Set(ids).size).toBe(41);
    expect(ids.every((id) => id.length <= 32)).toBe(true);
    expect(ids.some((id) => id.startsWith("~"))).toBe(true);
  });

  it("takes the handles in the order named, as often as they are named, then the order of the edges", () => {
    const flow = graph(["f>a@x", "f>b@y", "f>c@x"]);
    const first = fold(flow, [startedAt(flow, "f")]);
    const nodesAfter = (...handles: string[]): string[] =>
      apply(flow, first, eventOn(first, "0", { done: null, handles })).activePaths.map(({ nodeId }) => nodeId);
    expect(nodesAfter("x", "y")).toEqual(["a", "c", "b"]);
    expect(nodesAfter("y", "x", "y")).toEqual(["b", "a", "c", "b"]);
    expect(nodesAfter("none")).toEqual([]);
    expect(nodesAfter()).toEqual([]);
  });

  it("completes when the last of its paths ends", () => {
    const flow = graph(["f>a", "f>b"]);
    const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
    const one = completing(flow, forked, "0", "first");
    expect(one).toMatchObject({ status: "active", currentNodeId: "b", output: "first" });
    expect(completing(flow, one, "0.1", "second")).toMatchObject({ status: "completed", output: "second" });
  });
});

describe("a failed attempt", () => {
  const flow = graph(["a>b", "a>c@error"]);
  const first = fold(flow, [startedAt(flow, "a")]);

  it("with another one to come leaves its error in the context and says when", () => {
    const failed = apply(flow, first, eventOn(first, "0", { error: "busy", retryAt: 9_000 }, 3_000));
    expect(failed).toMatchObject({
      status: "error",
      currentNodeId: "a",
      version: 1,
      retryState: { nodeId: "a", attempts: 1, nextRetryAt: 9_000 },
    });
    expect(failed.context.a).toEqual([{ output: null, error: "busy", timestamp: 3_000, attempt: 1, pathId: "0", version: 1 }]);
    const again = apply(flow, failed, eventOn(failed, "0", { error: "busy", retryAt: 19_000 }));
    expect(again.retryState).toEqual({ nodeId: "a", attempts: 2, nextRetryAt: 19_000 });
    expect(completing(flow, again, "0", "at last")).toMatchObject({ status: "active", currentNodeId: "b" });
    expect(completing(flow, again, "0", "at last")).not.toHaveProperty("retryState");
  });

  it("takes the edge error, with the error as the result's data", () => {
    const failed = apply(flow, first, eventOn(first, "0", { error: "gone", retryAt: null, handle: "error" }));
    expect(failed).toMatchObject({ status: "active", currentNodeId: "c" });
    expect(failed.context.a?.[0]).toMatchObject({ output: { name: "Error", message: "gone", nodeId: "a" }, error: "gone" });
    expect(failed).not.toHaveProperty("error");
  });

  it("without another one and without an edge fails the execution, and all its paths", () => {
    const forked = graph(["f>a", "f>b"]);
    const both = completing(forked, fold(forked, [startedAt(forked, "f")]), "0", "x");
    const failed = apply(forked, both, eventOn(both, "0.1", { error: "gone", retryAt: null }));
    expect(failed).toMatchObject({ status: "failed", currentNodeId: "b", activePaths: [], error: { message: "gone", nodeId: "b" } });
  });

  it("can be told to be made at once", () => {
    const failed = apply(flow, first, eventOn(first, "0", { error: "busy", retryAt: 9_000 }));
    const retried = apply(flow, failed, { type: "retried", version: 2, at: 1, pathId: "0" });
    expect(retried).toMatchObject({ status: "active", version: 2 });
    expect(retried.activePaths[0]).toMatchObject({ status: "ready", attempts: 1, turn: 2 });
    expect(retried).not.toHaveProperty("retryState");
    expect(apply(flow, retried, { type: "retried", version: 3, at: 1, pathId: "0" })).toBe(retried);
    expect(apply(flow, failed, { type: "retried", version: 2, at: 1, pathId: "9" })).toBe(failed);
  });
});

describe("a suspended step", () => {
  const flow = graph(["a>b", "a>late@timeout"]);
  const first = fold(flow, [startedAt(flow, "a")]);
  const paused = apply(flow, first, eventOn(first, "0", { waits: [external("0@2")] }));
  const timedOut = (more: object): Event =>
    ({
      type: "timedOut",
      version: 2,
      at: 9_000,
      pathId: "0",
      nodeId: "a",
      attempt: 1,
      waitId: "0@2",
      error: { name: "Timeout", message: "late" },
      ...more,
    }) as Event;

  it("waits, and starts its attempts anew", () => {
    expect(paused).toMatchObject({ status: "paused", currentNodeId: "a", version: 1, steps: 1, context: {} });
    expect(paused.activePaths[0]).toMatchObject({ status: "suspended", turn: 2, visit: 1, attempts: 0, waits: [external("0@2")] });
  });

  it("runs again when it is resumed, and is told by what and with what", () => {
    const resumed = apply(flow, paused, {
      type: "resumed",
      version: 2,
      at: 5,
      pathId: "0",
      waitId: "0@2",
      by: "payload",
      payload: { yes: true },
      sizeBytes: 11,
    });
    expect(resumed).toMatchObject({ status: "active", version: 2, sizeBytes: 11 });
    expect(resumed.activePaths[0]).toEqual({
      ...{ id: "0", nodeId: "a", status: "ready", turn: 3, visit: 1, attempts: 0, since: 0, stepPath: [] },
      resumed: { by: "payload", payload: { yes: true }, suspendPayload: { ask: "ok?" } },
    });
    const bare = apply(flow, first, eventOn(first, "0", { waits: [{ id: "0@2", kind: "timer", resumeAt: 5 }] }));
    expect(
      apply(flow, bare, { type: "resumed", version: 2, at: 5, pathId: "0", waitId: "0@2", by: "timer" }).activePaths[0]?.resumed,
    ).toEqual({ by: "timer" });
  });

  it("leaves by its handle, or fails, when its time is over", () => {
    expect(apply(flow, paused, timedOut({ handle: "timeout" }))).toMatchObject({
      status: "active",
      currentNodeId: "late",
      context: { a: [{ output: null, error: "late" }] },
    });
    expect(apply(flow, paused, timedOut({ handle: "error" })).context.a?.[0]?.output).toEqual({ name: "Timeout", message: "late" });
    expect(apply(flow, paused, timedOut({}))).toMatchObject({ status: "failed", error: { message: "late" } });
  });

  it.each<[string, Event]>([
    ["another wait", { type: "resumed", version: 2, at: 5, pathId: "0", waitId: "0@9", by: "payload" }],
    ["another path", { type: "resumed", version: 2, at: 5, pathId: "0.1", waitId: "0@2", by: "payload" }],
    ["a deadline of another wait", timedOut({ waitId: "0@9" })],
    ["the outcome that suspended it, again", eventOn(first, "0", { done: "x" })],
    ["an outcome while it waits", { ...(eventOn(paused, "0", { done: "x" }) as CompletedEvent) }],
  ])("is not moved by %s", (_, event) => {
    expect(apply(flow, paused, event)).toBe(paused);
  });
});

describe("an event that does not follow", () => {
  const flow = graph(["a>b"]);
  const first = fold(flow, [startedAt(flow, "a")]);
  const done = eventOn(first, "0", { done: "x" }) as CompletedEvent;
  const second = apply(flow, first, done);

  it.each<[string, Snapshot, Event]>([
    ["the same one again", second, done],
    ["one of a version not yet due", first, { ...done, version: 2 }],
    ["one of an earlier turn", second, { ...done, version: 2 }],
    ["one of a path that is not open", first, { ...done, pathId: "0.7" }],
    [
      "a failure of an earlier turn",
      second,
      { ...done, type: "failed", version: 2, error: { name: "E", message: "m" }, retryAt: null } as unknown as Event,
    ],
    ["a suspension of an earlier turn", second, { ...done, type: "suspended", version: 2, waits: [] } as unknown as Event],
    ["one of an unknown kind", first, { ...done, type: "surprised" } as unknown as Event],
    ["a second start", first, { ...startedAt(flow, "a"), version: 1 }],
  ])("changes nothing: %s", (_, snapshot, event) => {
    expect(apply(flow, snapshot, event)).toBe(snapshot);
  });

  it("changes nothing either after the end", () => {
    const end = completing(flow, second, "0", "y");
    expect(apply(flow, end, { type: "cancelled", version: 3, at: 1 })).toBe(end);
  });
});

describe("a cancelled execution", () => {
  it("has no open path, and remembers where it stood", () => {
    const flow = graph(["f>a", "f>b"]);
    const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
    expect(apply(flow, forked, { type: "cancelled", version: 2, at: 1, reason: "enough" })).toMatchObject({
      status: "cancelled",
      currentNodeId: "a",
      activePaths: [],
      version: 2,
    });
  });
});

describe("apply", () => {
  it("moves a classic snapshot, which has neither a birth nor an incarnation", () => {
    const flow = graph(["a>b"]);
    const classic = readSnapshot({ workflowId: "w", status: "active", currentNodeId: "a", context: {}, version: 3, metadata: {} }, flow);
    const next = completing(flow, classic, "0", "x");
    expect(next).toMatchObject({ status: "active", currentNodeId: "b", version: 4 });
    expect(Object.keys(next)).not.toContain("createdAt");
    expect(Object.keys(next)).not.toContain("incarnation");
  });

  it("never changes its input, and gives something frozen", () => {
    const flow = graph(["f>a", "f>b", "a>f"]);
    const first = deepFreeze(fold(flow, [startedAt(flow, "f", { input: { deep: [1] } })]));
    const event = deepFreeze(eventOn(first, "0", { done: "x" }));
    const before = JSON.stringify([first, event]);
    const next = apply(flow, first, event);
    expect(JSON.stringify([first, event])).toBe(before);
    for (const part of [
      next,
      next.activePaths,
      next.activePaths[0],
      next.activePaths[0]?.stepPath,
      next.context,
      next.context.f,
      next.context.f?.[0],
    ])
      expect(Object.isFrozen(part)).toBe(true);
    const other = apply(flow, next, eventOn(next, "0", { done: "y" }));
    expect(other.context.f).toBe(next.context.f);
  });
});

describe("fold", () => {
  it("rebuilds the snapshot of every version from the events", () => {
    const flow = graph(["f>a", "f>b@no", "a>f", "a>b"]);
    const started = startedAt(flow, "f", { input: { x: 1 } });
    const events: Event[] = [];
    let snapshot = fold(flow, [started]);
    const tell = (event: Event): void => {
      events.push(event);
      snapshot = apply(flow, snapshot, event);
      expect(snapshot.version).toBe(events.length);
      expect(fold(flow, [started, ...events])).toEqual(snapshot);
      expect(restore({ head: snapshot, children: [], events: [started, ...events] }).context).toEqual(snapshot.context);
    };
    tell(eventOn(snapshot, "0", { error: "busy", retryAt: 5 }));
    tell({ type: "retried", version: 2, at: 6, pathId: "0" });
    tell(eventOn(snapshot, "0", { done: "x", handles: ["", "no"] }));
    tell(eventOn(snapshot, "0.1", { waits: [external("0.1@2")] }));
    tell({ type: "resumed", version: 5, at: 7, pathId: "0.1", waitId: "0.1@2", by: "payload" });
    tell(eventOn(snapshot, "0", { done: "y" }));
    tell({ type: "cancelled", version: 7, at: 8 });
    expect(snapshot.status).toBe("cancelled");
  });

  it("lets go of events that do not follow", () => {
    const flow = graph(["a>b"]);
    const started = startedAt(flow, "a");
    const done = eventOn(fold(flow, [started]), "0", { done: "x" });
    expect(fold(flow, [started, done, done])).toEqual(fold(flow, [started, done]));
  });
});
