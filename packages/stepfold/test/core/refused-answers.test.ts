import { describe, expect, it } from "vitest";
import { explain } from "../../src/core/explain/explain.ts";
import { waits } from "../../src/core/explain/waits.ts";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { AnswerRefusedEvent, Event, SuspendedEvent } from "../../src/core/snapshot/event.ts";
import { historyCheckpoint } from "../../src/core/snapshot/history-checkpoint.ts";
import { leanHead, wholeHead } from "../../src/core/snapshot/large-values.ts";
import type { Wait } from "../../src/core/snapshot/parts/wait.ts";
import { restore } from "../../src/core/snapshot/restore.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { snapshotHead } from "../../src/core/snapshot/snapshot-head.ts";
import { apply, fold } from "../../src/core/transition/apply.ts";
import { openDraft } from "../../src/core/transition/draft/open-draft.ts";
import { due } from "../../src/core/transition/plan.ts";
import { takeCheckpoint } from "../../src/core/transition/take-checkpoint.ts";
import { type Json, type JsonSchema, sizeOfJson } from "../../src/core/values/json.ts";
import { eventOn, graph, pathOf, startedAt } from "./execution.fixture.ts";

const flow = graph(["ask>end", "ask>late@timeout"], ["ask"], { start: "ask" });
const schemas: Readonly<Record<string, JsonSchema>> = { s1: { type: "object", required: ["amount"] } };
const issues = [{ pointer: "/amount", message: "must be even" }];

const begun = fold(flow, [startedAt(flow, "ask")]);
const next = (snapshot: Snapshot, event: Partial<Event>): Snapshot =>
  apply(flow, snapshot, { version: snapshot.version + 1, at: 3_000, pathId: "0", ...event } as Event);
/** Returns an execution that waits at `ask`. */
const asking = (more: Partial<Wait> = {}, event: Partial<SuspendedEvent> = {}, others: readonly Wait[] = []): Snapshot => {
  const wait: Wait = { id: "0@2", kind: "external", typeSchema: "s1", ...more };
  return apply(flow, begun, { ...eventOn(begun, "0", { waits: [wait, ...others] }), schemas, ...event } as Event);
};
const answering = (snapshot: Snapshot, more: Partial<Event> = {}): Snapshot =>
  next(snapshot, { type: "resumed", waitId: "0@2", by: "payload", payload: { amount: 3 }, ...more } as Partial<Event>);
/** Applies the event that the code of the node refuses the answer. */
const refusing = (snapshot: Snapshot, more: Partial<AnswerRefusedEvent> = {}): Snapshot => {
  const { turn, nodeId, attempts, resumed } = pathOf(snapshot, "0");
  const { waitId = "?", version } = resumed?.reopens ?? {};
  const step = { turn, nodeId, attempt: attempts + 1, startedAt: 2_990, waitId, ...(version !== undefined && { answer: version }) };
  return next(snapshot, { type: "answerRefused", ...step, issues, ...more } as Partial<Event>);
};

describe("an answer that the code of the node refuses", () => {
  it("opens the same wait under its next id, with its payload, its deadline and the time since when it is open, and says why", () => {
    const asked = asking({ payload: { for: "ada" }, timeoutAt: 9_000, responders: ["ada"] });
    const again = refusing(answering(asked, { who: "ada" } as Partial<Event>));
    expect(again.status).toBe("paused");
    expect(pathOf(again, "0")).toMatchObject({ status: "suspended", turn: 4, attempts: 0 });
    expect(pathOf(again, "0").resumed).toBeUndefined();
    expect(pathOf(again, "0").waits).toEqual([
      {
        ...{
          id: "0@4",
          firstId: "0@2",
          kind: "external",
          typeSchema: "s1",
          payload: { for: "ada" },
          timeoutAt: 9_000,
          responders: ["ada"],
        },
        openedAt: 2_000,
        refused: { at: 3_000, who: "ada", issues },
      },
    ]);
    expect(explain(again, flow).sentence).toBe(
      'ask waits for an answer from ada (the answer of ada was refused: /amount must be even), until 1970-01-01T00:00:09.000Z, and then leaves by "timeout".',
    );
    expect(waits(again)).toMatchObject([{ schema: schemas.s1, refused: { who: "ada" }, answer: { type: "resume", target: "0@4" } }]);
  });

  it("may be refused twice, and then be right", () => {
    const twice = refusing(answering(refusing(answering(asking())), { waitId: "0@4", who: "bob" } as Partial<Event>));
    expect(pathOf(twice, "0").waits).toEqual([
      { id: "0@6", firstId: "0@2", kind: "external", typeSchema: "s1", openedAt: 2_000, refused: { at: 3_000, who: "bob", issues } },
    ]);
    const done = answering(twice, { waitId: "0@6", payload: { amount: 4 } } as Partial<Event>);
    expect(apply(flow, done, eventOn(done, "0", { done: "paid" })).activePaths).toMatchObject([{ nodeId: "end" }]);
  });

  it("is told without a name, and without a reason, where there is none", () => {
    const nameless = refusing(answering(asking()), { issues: [{ pointer: "", message: "no" }] });
    expect(explain(nameless, flow).sentence).toBe("ask waits for an answer (the last one was refused: / no).");
    expect(explain(refusing(answering(asking()), { issues: [] }), flow).sentence).toBe(
      "ask waits for an answer (the last one was refused).",
    );
  });

  it("is refused only where the type of the node has a schema, and while the task that it made due is current", () => {
    const { typeSchema: _, ...plain } = asking().activePaths[0]!.waits![0]!;
    const untyped = apply(flow, begun, eventOn(begun, "0", { waits: [plain] }));
    expect(refusing(answering(untyped)).version).toBe(2);
    const answered = answering(asking());
    expect(refusing(answered, { turn: 2 })).toBe(answered);
    expect(refusing(asking()).version).toBe(1);
  });

  it("leaves out only itself of several, and the other waits of the path are open again too", () => {
    const other: Wait = { id: "0@2.1", kind: "signal", signal: "go", typeSchema: "code" };
    const asked = asking({ quorum: 2 }, {}, [other]);
    const both = answering(answering(asked, { who: "ada" } as Partial<Event>), { who: "bob" } as Partial<Event>);
    expect(pathOf(both, "0").status).toBe("ready");
    const again = refusing(both);
    expect(pathOf(again, "0").waits).toMatchObject([
      { id: "0@4", answers: [{ by: "ada" }], refused: { who: "bob" } },
      { id: "0@4.1", signal: "go" },
    ]);
    expect(pathOf(again, "0").waits![1]).not.toHaveProperty("refused");
    const signal = { type: "signalled", name: "go", expiresAt: 1e6 } as Partial<Event>;
    expect(pathOf(refusing(next(again, signal)), "0").waits).toMatchObject([
      { id: "0@6", answers: [{ by: "ada" }], refused: { who: "bob" } },
      { id: "0@6.1", signal: "go", refused: { at: 3_000 } },
    ]);
    expect(waits(again)).toMatchObject([{ answered: ["ada"], missing: 1 }, { needsCode: true }]);
  });

  it("may be a signal; the next one that has come meanwhile is taken at once, unless a time has come", () => {
    const signalled = (snapshot: Snapshot, payload: number, at = 3_000): Snapshot =>
      next(snapshot, { type: "signalled", name: "go", payload, expiresAt: 1e6, at } as Partial<Event>);
    const asked = asking({ kind: "signal", signal: "go", timeoutAt: 3_500 });
    const two = signalled(signalled(asked, 1), 2);
    expect(two.inbox).toMatchObject([{ payload: 2 }]);
    const taken = refusing(two);
    expect(pathOf(taken, "0")).toMatchObject({ status: "ready", resumed: { by: "signal", payload: 2, reopens: { waitId: "0@4" } } });
    // a signal from the inbox answers without an event of its own, so there is no version to name
    expect(pathOf(taken, "0").resumed?.reopens).not.toHaveProperty("version");
    expect(explain(refusing(taken), flow).sentence).toContain('waits for the signal "go" (the last one was refused: /amount must be even)');
    const late = refusing(two, { at: 3_500 });
    expect(late).toMatchObject({ inbox: [{ payload: 2 }], activePaths: [{ status: "suspended" }] });
    expect(due(openDraft(flow, late), 3_500)).toMatchObject({ type: "timedOut", waitId: "0@4" });
  });

  it("does not open again what a time has ended", () => {
    const asked = asking({ resumeAt: 2_500 });
    const woken = answering(asked, { by: "timer", payload: undefined } as Partial<Event>);
    expect(pathOf(woken, "0").resumed).toEqual({ by: "timer" });
  });

  it("frees its idempotency key, and no other", () => {
    const first = next(asking(), { type: "signalled", name: "x", expiresAt: 1e6, idempotencyKey: "k0" } as Partial<Event>);
    const answered = answering(first, { idempotencyKey: "k1" } as Partial<Event>);
    expect(answered.answered).toMatchObject([{ key: "k0" }, { key: "k1", version: 3 }]);
    expect(refusing(answered).answered).toEqual([{ command: "signal", key: "k0", version: 2, at: 3_000 }]);
  });

  it("counts nothing that is no longer held", () => {
    const asked = asking({ payload: "p", schema: { type: "object" } }, { sizeBytes: 100 });
    const size = asked.sizeBytes;
    const given = { sizeBytes: sizeOfJson({ amount: 3 }) };
    const told = { sizeBytes: sizeOfJson(issues) };
    const again = refusing(answering(asked, given), told);
    expect(again.sizeBytes).toBe(size + told.sizeBytes);
    const third = refusing(answering(again, { waitId: "0@4", ...given } as Partial<Event>), told);
    expect(third.sizeBytes).toBe(size + told.sizeBytes);
  });

  it("refers to a large payload where it lies, also after it was open again", () => {
    const payload = { text: "x".repeat(2_000) };
    const own = { const: "y".repeat(2_000) };
    const asked = asking({ payload, schema: own }, { sizeBytes: 4_000 });
    const answered = answering(asked);
    expect(pathOf(answered, "0").resumed).toMatchObject({
      inEvents: { suspendPayload: "1/waits/0/payload" },
      reopens: { waits: [{ inEvents: { schema: "1/waits/0/schema" } }] },
    });
    expect(pathOf(answered, "0").resumed!.reopens!.waits[0]).not.toHaveProperty("payload");
    const inEvents = { payload: "1/waits/0/payload", schema: "1/waits/0/schema" };
    expect(pathOf(refusing(answered), "0").waits).toMatchObject([{ payload, schema: own, inEvents }]);
    const lean = leanHead(snapshotHead(answered));
    expect(JSON.stringify(lean)).not.toMatch(/xxxx|yyyy/);
    const told = { "1/waits/0/payload": payload, "1/waits/0/schema": own } as Record<string, Json>;
    expect(wholeHead(lean, (at) => told[at]!)).toEqual(snapshotHead(answered));
    const only = answering(asking({ payload }, { sizeBytes: 4_000 }));
    expect(pathOf(only, "0").resumed!.reopens!.waits[0]).not.toHaveProperty("inEvents");
  });
});

describe("the keys of answers", () => {
  it("are the latest two thousand where no store has rows for older ones", () => {
    const signals = Array.from({ length: 2_001 }, (_, i): Event => {
      return { type: "signalled", version: i + 1, at: 5, name: "x", expiresAt: 1, idempotencyKey: `k${i}` };
    });
    const { answered } = restore({ head: snapshotHead(begun), children: [], events: [startedAt(flow, "ask"), ...signals] });
    expect(answered).toHaveLength(2_000);
    expect(answered![0]).toMatchObject({ key: "k1" });
  });
});

describe("the schemas that types of nodes give", () => {
  it("are held once, however often they are brought, and counted once", () => {
    const once = asking({}, { sizeBytes: 50 });
    expect(once).toMatchObject({ schemas, sizeBytes: 50 });
    const answered = answering(once);
    const bytes = JSON.stringify(schemas.s1).length;
    const more = { type: "suspended", schemas: { s1: true, s2: true }, sizeBytes: bytes + 4 } as Partial<Event>;
    const again = apply(flow, answered, { ...eventOn(answered, "0", { waits: [{ id: "0@4", kind: "external" }] }), ...more } as Event);
    expect(again.schemas).toEqual({ ...schemas, s2: true });
    expect(again.sizeBytes - answered.sizeBytes).toBeLessThan(bytes);
  });

  it("lie in no head, and come back from events, from a checkpoint and from outside", () => {
    const asked = asking();
    expect(snapshotHead(asked)).not.toHaveProperty("schemas");
    const head = snapshotHead(asked);
    expect(restore({ head, children: [], events: [], checkpoint: historyCheckpoint(asked) }).schemas).toEqual(schemas);
    expect(takeCheckpoint(asked, { reason: "fork", laterMs: 0, runsCode: false }).state.schemas).toEqual(schemas);
    expect(readSnapshot(JSON.parse(JSON.stringify(asked)), flow)).toEqual(asked);
  });

  it("are told as needing the code where the execution does not hold them", () => {
    const lost = asking({ typeSchema: "toString" });
    expect(waits(lost)[0]).toMatchObject({ needsCode: true });
    expect(waits({ activePaths: lost.activePaths })[0]).toMatchObject({ needsCode: true });
  });
});

describe("an execution that goes on from one with an answer that was not parsed yet", () => {
  it("keeps what may open again, with the time that was left", () => {
    const answered = answering(asking({ payload: "p", timeoutAt: 9_000 }));
    const { state } = takeCheckpoint(answered, { reason: "fork", laterMs: 1_000, runsCode: false });
    expect(state.activePaths[0]?.resumed).toEqual({
      ...{ by: "payload", payload: { amount: 3 }, suspendPayload: "p" },
      reopens: { waitId: "0@2", waits: [{ id: "0@2", kind: "external", typeSchema: "s1", openedAt: 3_000, timeoutAt: 10_000 }] },
    });
  });
});
