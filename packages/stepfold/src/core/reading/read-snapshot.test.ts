import { describe, expect, it } from "vitest";
import { completing, eventOn, graph, startedAt } from "../../../test/core/execution.fixture.ts";
import { restore } from "../snapshot/restore.ts";
import { resultOf } from "../snapshot/result.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { apply, fold } from "../transition/apply.ts";
import { defaultLimits } from "../values/limits.ts";
import { readSnapshot } from "./read-snapshot.ts";

const flow = graph(["f>a", "f>b", "f>c"]);
const forked = completing(flow, fold(flow, [startedAt(flow, "f", { input: { x: 1 }, sizeBytes: 9 })]), "0", "x");
const retrying = apply(flow, forked, eventOn(forked, "0.1", { error: "busy", retryAt: 5_000 }));
const mixed = apply(
  flow,
  retrying,
  eventOn(retrying, "0.2", { waits: [{ id: "0.2@2", kind: "external", payload: 1, schema: true, timeoutAt: 9 }] }),
);
const copy = (snapshot: Snapshot): Record<string, unknown> => JSON.parse(JSON.stringify(snapshot)) as Record<string, unknown>;
/** Returns a copy of a snapshot in which the value at a JSON pointer is replaced; undefined removes it. */
const changed = (pointer: string, value: unknown, from: Snapshot = mixed): unknown => {
  const whole = copy(from);
  const keys = pointer.split("/").slice(1);
  const last = keys.pop()!;
  let place = whole as Record<string, unknown>;
  for (const key of keys) place = place[key] as Record<string, unknown>;
  if (value === undefined) delete place[last];
  else place[last] = value;
  return whole;
};
const classic = { workflowId: "w", status: "active", currentNodeId: "a", context: {}, version: 3, metadata: {} };

describe("the tenant and the budget of a snapshot from outside", () => {
  const own = fold(flow, [
    startedAt(flow, "f", { tenant: "acme", unnamed: true, deadlineAt: 5_000, givenTime: { deadlineAt: 5_000, timeoutMs: 4_000 } }),
  ]);

  it("are read as they were written", () => {
    expect(readSnapshot(copy(own), flow)).toMatchObject({ tenant: "acme", unnamed: true, deadlineAt: 5_000 });
    const parent = { workflowId: "p", depth: 1, descendants: 7 };
    expect(readSnapshot(changed("/parent", parent, own), flow).parent).toMatchObject(parent);
    for (const reason of ["fork", "adopt"]) {
      const from = { workflowId: "o", incarnation: "i", version: 7, reason };
      expect(readSnapshot(changed("/from", from, own), flow).from).toEqual(from);
    }
    // an earlier version restarted and continued executions under new ids
    for (const reason of ["restart", "continueAs"]) {
      const from = { workflowId: "o", version: 7, reason };
      expect(readSnapshot(changed("/from", from, own), flow).from).toEqual({ ...from, reason: "fork" });
    }
    const scheduledBy = { schedule: "s", workflowId: "schedule:s~3", at: 5 };
    expect(readSnapshot(changed("/scheduledBy", scheduledBy, own), flow).scheduledBy).toEqual(scheduledBy);
    const answered = [
      { command: "signal", key: "k", version: 0 },
      { command: "resume", key: "k", version: 0 },
      { command: "restart", key: "k", version: 0 },
    ];
    expect(readSnapshot(changed("/answered", answered, own), flow)).toMatchObject({ answered });
    for (const keyRows of [
      { days: [20_000], before: 0 },
      { days: [20_000], before: 0, refused: [0] },
    ])
      expect(readSnapshot(changed("/keyRows", keyRows, own), flow)).toMatchObject({ keyRows });
    const schemas = { s: { type: "object" }, t: true };
    expect(readSnapshot(changed("/schemas", schemas, own), flow)).toMatchObject({ schemas });
    for (const more of [{}, { quick: 3 }]) {
      const run = { number: 3, since: 0, at: 5, ...more };
      expect(readSnapshot(changed("/run", run, own), flow).run).toEqual(run);
    }
    expect(readSnapshot(changed("/restarts", 2, own), flow)).toMatchObject({ restarts: 2 });
    expect(readSnapshot(changed("/taskQueue", "gpu", own), flow)).toMatchObject({ taskQueue: "gpu" });
    // an earlier version wrote only that the deadline was given
    const { givenTime, ...earlier } = own;
    const read = (more: object): unknown => readSnapshot(copy({ ...earlier, ...more }), flow).givenTime;
    expect(read({ givenTime })).toEqual(givenTime);
    expect(read({ deadlineGiven: true })).toEqual({ deadlineAt: 5_000, timeoutMs: 5_000 - own.createdAt! });
    expect([read({}), read({ deadlineGiven: true, createdAt: undefined }), read({ deadlineGiven: true, deadlineAt: undefined })]).toEqual(
      Array.from({ length: 3 }),
    );
  });

  it.each<[string, unknown]>([
    ["/tenant", ""],
    ["/tenant", 7],
    ["/deadlineAt", "soon"],
    ["/tenant", "a\u0000b"],
    ["/taskQueue", "a b"],
    ["/parent", { workflowId: "p", depth: 1, descendants: -1 }],
    ["/from", "o"],
    ["/from", { workflowId: "", version: 7, reason: "fork" }],
    ["/from", { workflowId: "o", version: -1, reason: "fork" }],
    ["/from", { workflowId: "o", version: 7, reason: "theft" }],
    ["/scheduledBy", "s"],
    ["/scheduledBy", { schedule: "", workflowId: "schedule:s", at: 5 }],
    ["/scheduledBy", { schedule: "s", workflowId: "", at: 5 }],
    ["/scheduledBy", { schedule: "s", workflowId: "schedule:s" }],
    ["/scheduledBy", { schedule: "s", workflowId: "schedule:s", at: 5, reports: false }],
    ["/historyBytes", -1],
    ["/answered", "k"],
    ["/answered", [{ command: "resume", key: "k", version: 99 }]],
    ["/answered", [{ command: "resume", key: "", version: 0 }]],
    ["/answered", [{ command: "theft", key: "k", version: 0 }]],
    ["/answered", [{ command: "resume", key: "k", version: 0, at: "now" }]],
    ["/keyRows", 7],
    ["/keyRows", { days: 7, before: 0 }],
    ["/keyRows", { days: ["today"], before: 0 }],
    ["/keyRows", { days: [], before: 99 }],
    ["/keyRows", { days: [], before: 0, refused: [99] }],
    ["/schemas", "s"],
    ["/schemas", { s: "object" }],
    ["/continuedAs", { workflowId: "o~2" }],
    ["/run", 2],
    ["/run", { number: 1, since: 0, at: 5 }],
    ["/run", { number: 2, since: 99, at: 5 }],
    ["/run", { number: 2, since: 0, at: "now" }],
    ["/run", { number: 2, since: 0 }],
    ["/run", { number: 2, since: 0, at: 5, quick: -1 }],
    ["/restarts", -1],
    ["/restarts", "twice"],
    ["/givenTime", "soon"],
    ["/givenTime", { timeoutMs: 5 }],
    ["/givenTime", { deadlineAt: "soon", timeoutMs: 5 }],
    ["/givenTime", { deadlineAt: 5, timeoutMs: -1 }],
  ])("are refused where they are of another form: %s %j", (pointer, value) => {
    expect(() => readSnapshot(changed(pointer, value, own), flow)).toThrow(expect.objectContaining({ code: "SNAPSHOT_INVALID" }));
  });
});

describe("readSnapshot", () => {
  it.each<[string, Snapshot]>([
    ["with forks, a retry and a wait", mixed],
    ["that was cancelled", apply(flow, mixed, { type: "cancelled", version: 4, at: 0 })],
    ["that failed", apply(flow, mixed, eventOn(mixed, "0", { error: "x", retryAt: null }))],
    ["that has just begun", fold(flow, [startedAt(flow, "f", { payload: 1 })])],
  ])("gives back a snapshot %s just as it was", (_, snapshot) => {
    const read = readSnapshot(copy(snapshot), flow);
    expect(read).toEqual(snapshot);
    for (const part of [read, read.activePaths, read.context, read.metadata]) expect(Object.isFrozen(part)).toBe(true);
  });

  it.each<[string, unknown, string?]>([
    ["/schema", 0],
    ["/schema", "1"],
    ["/schema", 1.5],
    ["/workflowId", undefined],
    ["/workflowId", ""],
    ["/workflowId", 5],
    ["/workflowId", "__proto__"],
    ["/status", "running"],
    ["/status", 1],
    ["/status", "toString"],
    ["/version", undefined],
    ["/version", -5],
    ["/version", "5"],
    ["/version", 2 ** 53 - 1],
    ["/version", 1.5],
    ["/version", null],
    ["/metadata", []],
    ["/metadata", "x"],
    ["/context", []],
    ["/context", 5],
    ["/context", { "a/b": [] }, "/context/a~1b"],
    ["/context", { constructor: [] }, "/context/constructor"],
    ["/context", { a: {} }, "/context/a"],
    ["/context/f/0", null],
    ["/context/f/0", "x"],
    ["/context/f/0/error", 5],
    ["/context/f/0/pathId", 5],
    ["/context/f/0/timestamp", -1],
    ["/context/f/0/timestamp", "now"],
    ["/context/f/0/attempt", "1"],
    ["/context/f/0/version", {}],
    ["/definition", "flow"],
    ["/definition", { id: "flow" }],
    ["/definition", { id: 5, hash: "x" }],
    ["/steps", -1],
    ["/steps", "many"],
    ["/sizeBytes", -1],
    ["/lastStartedAt", "yesterday"],
    ["/totalExecutionTime", -5],
    ["/createdAt", {}],
    ["/error", "failed"],
    ["/error", { name: "x" }],
    ["/activePaths", {}],
    ["/activePaths", []],
    ["/activePaths/0", 5],
    ["/activePaths/0/id", ""],
    ["/activePaths/0/id", 0],
    ["/activePaths/0/id", "x".repeat(65)],
    ["/activePaths/1/id", "0"],
    ["/activePaths/0/nodeId", undefined],
    ["/activePaths/0/status", "running"],
    ["/activePaths/0/turn", -1],
    ["/activePaths/0/turn", undefined],
    ["/activePaths/0/visit", "1"],
    ["/activePaths/0/attempts", 0.5],
    ["/activePaths/0/since", null],
    ["/activePaths/0/forks", -1],
    ["/activePaths/1/nextRetryAt", "soon"],
    ["/activePaths/0/stepPath", "f"],
    ["/activePaths/0/stepPath", [5]],
    ["/activePaths/2/waits", undefined],
    ["/activePaths/2/waits", []],
    ["/activePaths/0/waits", 5],
    ["/activePaths/2/waits/0", 5],
    ["/activePaths/2/waits/0", null],
    ["/activePaths/2/waits/0", { kind: "external" }, "/activePaths/2/waits/0/id"],
    ["/activePaths/2/waits/0/kind", "person"],
    ["/activePaths/2/waits/0/schema", "text"],
    ["/activePaths/2/waits/0/schema", null],
    ["/activePaths/2/waits/0/timeoutAt", -1],
    ["/activePaths/2/waits/0/resumeAt", "1"],
    ["/activePaths/0/resumed", 5],
  ])("refuses %s = %j", (pointer, value, named = pointer) => {
    expect(() => readSnapshot(changed(pointer, value), flow)).toThrow(
      expect.objectContaining({ code: "SNAPSHOT_INVALID", details: expect.objectContaining({ pointer: named }) }),
    );
  });

  it("refuses what is no object, and what is no plain JSON", () => {
    for (const value of [null, 5, "x", [], true])
      expect(() => readSnapshot(value, flow)).toThrow(expect.objectContaining({ code: "SNAPSHOT_INVALID" }));
    expect(() => readSnapshot(changed("/input", Number.NaN), flow)).toThrow(expect.objectContaining({ code: "VALUE_NOT_JSON" }));
    expect(() => readSnapshot(changed("/metadata", { at: new Date(0) }), flow)).toThrow(
      expect.objectContaining({ code: "VALUE_NOT_JSON" }),
    );
  });

  it("refuses open paths where the execution has ended", () => {
    expect(() => readSnapshot(changed("/status", "completed"), flow)).toThrow(/cannot be with status "completed"/);
  });

  it("refuses the format of a newer version, and says so", () => {
    expect(() => readSnapshot(changed("/schema", 2), flow)).toThrow(
      expect.objectContaining({ code: "SNAPSHOT_TOO_NEW", details: { schema: 2, supported: 1 } }),
    );
  });

  it("refuses a path at a node that the definition lacks", () => {
    const lacking = (more: object): object =>
      expect.objectContaining({ code: "DEFINITION_CHANGED", details: expect.objectContaining({ missing: ["gone"], ...more }) });
    expect(() => readSnapshot(changed("/activePaths/0/nodeId", "gone"), flow)).toThrow(lacking({ actual: flow.hash }));
    expect(() => readSnapshot({ ...classic, currentNodeId: "gone" }, flow)).toThrow(lacking({ actual: "?" }));
  });

  it("loads whatever was committed, also what would be too large today", () => {
    const large = changed(
      "/input",
      Array.from({ length: 2_000 }, () => "x".repeat(10)),
    );
    expect(readSnapshot(large, flow, { ...defaultLimits, keys: 10, valueBytes: 10, stringLength: 1 }).input).toHaveLength(2_000);
  });
});

describe("a classic snapshot", () => {
  const result = { output: { a: 1 }, timestamp: 50 };

  it("that is active stands at its node", () => {
    const read = readSnapshot(
      { ...classic, context: { f: [result, { output: null, timestamp: 60, error: "x" }], b: [{ output: 1 }] } },
      flow,
    );
    expect(read).toMatchObject({
      schema: 1,
      status: "active",
      currentNodeId: "a",
      version: 3,
      steps: 3,
      definition: { id: "flow", hash: flow.hash },
    });
    expect(read.activePaths).toEqual([
      { id: "0", nodeId: "a", status: "ready", turn: 1, visit: 1, attempts: 0, since: 3, stepPath: ["f"] },
    ]);
    expect(read.context.f?.[0]).toEqual({ output: { a: 1 }, timestamp: 50, attempt: 1, pathId: "0", version: 0 });
    expect(read.context.f?.[1]).toMatchObject({ error: "x" });
  });

  it("knows no way it came where nothing has run, or only its own node has", () => {
    expect(readSnapshot(classic, flow).activePaths[0]?.stepPath).toEqual([]);
    expect(readSnapshot({ ...classic, context: { a: [result] } }, flow).activePaths[0]?.stepPath).toEqual([]);
  });

  it("came from the node whose result is the latest", () => {
    const context = {
      f: [result],
      b: [{ output: 1, timestamp: 70 }],
      c: [{ output: 1, timestamp: 60 }],
      a: [{ output: 1, timestamp: 90 }],
      empty: [],
    };
    expect(readSnapshot({ ...classic, context }, flow).activePaths[0]?.stepPath).toEqual(["b"]);
  });

  it("that is paused waits for one payload", () => {
    expect(readSnapshot({ ...classic, status: "paused" }, flow).activePaths).toEqual([
      {
        id: "0",
        nodeId: "a",
        status: "suspended",
        turn: 1,
        visit: 1,
        attempts: 0,
        since: 3,
        stepPath: [],
        waits: [{ id: "0@1", kind: "external" }],
      },
    ]);
  });

  it("that failed for now goes on with its attempts", () => {
    const read = readSnapshot({ ...classic, status: "error", retryState: { nodeId: "a", attempts: 2, nextRetryAt: 77 } }, flow);
    expect(read.activePaths[0]).toMatchObject({ status: "retrying", attempts: 2, nextRetryAt: 77 });
    expect(read.retryState).toEqual({ nodeId: "a", attempts: 2, nextRetryAt: 77 });
    expect(readSnapshot({ ...classic, status: "error" }, flow).activePaths[0]).toMatchObject({ status: "retrying", attempts: 0 });
    const none = { ...classic, status: "error", retryState: null };
    expect(readSnapshot(none, flow)).not.toHaveProperty("retryState");
    expect(
      readSnapshot({ ...classic, status: "error", retryState: { attempts: -1, nextRetryAt: "x" } }, flow).activePaths[0],
    ).not.toHaveProperty("nextRetryAt");
  });

  it.each(["completed", "failed"])("that has %s has no open path", (status) => {
    const read = readSnapshot(
      { ...classic, status, currentNodeId: status === "failed" ? "a" : null, totalExecutionTime: 5, lastStartedAt: 1 },
      flow,
    );
    expect(read).toMatchObject({ status, activePaths: [], totalExecutionTime: 5, lastStartedAt: 1 });
  });

  it("may come without a context", () => {
    const { context: _, ...without } = classic;
    expect(readSnapshot(without, flow).context).toEqual({});
  });

  it("must name the node it stands at", () => {
    expect(() => readSnapshot({ ...classic, currentNodeId: null }, flow)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ pointer: "/currentNodeId" }) }),
    );
  });
});

describe("results of events", () => {
  it("are added by steps that ended and by timeouts, and by nothing else", () => {
    const wait = eventOn(forked, "0", { waits: [] });
    expect(resultOf(wait)).toBeNull();
    expect(resultOf(startedAt(flow, "f"))).toBeNull();
    expect(
      restore({
        head: forked,
        children: [],
        events: [wait, eventOn(forked, "0", { done: "x" }), eventOn(forked, "0", { done: "y" })],
      }).context.a?.map(({ output }) => output),
    ).toEqual(["x", "y"]);
  });
});
