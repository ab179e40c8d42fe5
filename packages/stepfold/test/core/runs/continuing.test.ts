import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../../src/core/reading/read-snapshot.ts";
import type { CompletedEvent, ContinuedEvent, Event, StartedEvent } from "../../../src/core/snapshot/event.ts";
import { historyCheckpoint } from "../../../src/core/snapshot/history-checkpoint.ts";
import { restore } from "../../../src/core/snapshot/restore.ts";
import type { KeptSignal, Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../src/core/snapshot/snapshot-head.ts";
import { apply, fold } from "../../../src/core/transition/apply.ts";
import { continuedEvent, draftOfRun, type NextRun } from "../../../src/core/transition/begin-run.ts";
import { closeDraft } from "../../../src/core/transition/draft/close-draft.ts";
import { openDraft } from "../../../src/core/transition/draft/open-draft.ts";
import { evolve } from "../../../src/core/transition/evolve.ts";
import { takeCheckpoint } from "../../../src/core/transition/take-checkpoint.ts";
import { eventOn, graph, startedAt } from "../execution.fixture.ts";

const flow = graph(["f>a", "f>b"], [], { output: "{{ nodes.nothing.last.data.at.all }}", onFailure: "finish" });
const parent = { workflowId: "outer", waitId: "0@2", depth: 1 };
const forked = (more: Partial<StartedEvent> = {}): Snapshot => {
  const first = fold(flow, [startedAt(flow, "f", more)]);
  return apply(flow, first, eventOn(first, "0", { done: null }));
};
/** The event of a step after which the execution goes on with its next run. */
const continued = (workflow: typeof flow, snapshot: Snapshot, pathId: string, more: Partial<NextRun> = {}): ContinuedEvent => {
  const step = eventOn(snapshot, pathId, { done: null }) as CompletedEvent;
  return continuedEvent(openDraft(workflow, snapshot), step, { workflow, firstNodeId: workflow.starts[0]!, ...more });
};

describe("an execution that goes on with its next run", () => {
  it("does not run its `finally` node, which runs at the end of the last run", () => {
    const closing = graph(["a>b"], ["bye"], { finally: "bye" });
    const first = fold(closing, [startedAt(closing, "a")]);
    const next = apply(closing, first, continued(closing, first, "0"));
    expect(next).toMatchObject({ status: "active", activePaths: [{ id: "1", nodeId: "a" }], run: { number: 2, since: 1 } });
    expect(next).not.toHaveProperty("closing");
    const ended = apply(closing, next, { type: "cancelled", version: 2, at: 0 });
    expect(ended).toMatchObject({ activePaths: [{ id: "finally", nodeId: "bye" }], closing: { status: "cancelled" } });
  });

  it("holds nothing of the run before but its identity, and can be read without it", () => {
    const before = forked({ parent, tenant: "t", input: 1 });
    const event = continued(flow, before, "0", { input: 5 });
    const next = apply(flow, before, event);
    expect(next).toMatchObject({ status: "active", input: 5, steps: 0, sizeBytes: event.sizeBytes!, parent, tenant: "t", context: {} });
    expect(next.activePaths).toMatchObject([{ id: "1", nodeId: "f", turn: 1, since: 2 }]);
    expect(next).not.toHaveProperty("outbox");
    expect(readSnapshot(JSON.parse(JSON.stringify(next)), flow)).toEqual(next);
    const { historyBytes: _, ...alone } = closeDraft(draftOfRun(flow, snapshotHead(next), event));
    expect(alone).toEqual({ ...next, historyBytes: undefined, lastStartedAt: event.startedAt });
    // without a checkpoint a load reads the whole history
    const events = [
      startedAt(flow, "f", { parent, tenant: "t", input: 1 }),
      eventOn(fold(flow, [startedAt(flow, "f")]), "0", { done: null }),
      event,
    ];
    expect(restore({ head: snapshotHead(next), children: [], events })).toEqual(next);
    expect(restore({ head: snapshotHead(next), children: [], events: [], checkpoint: historyCheckpoint(next) })).toEqual(next);
  });

  it("ends the children of the run before, and is the fold of its history", () => {
    const item = { id: "item", nodes: [{ id: "n", type: "noop" }], edges: [] };
    const mapping = graph(["f>a", "f>m"], [], { workflows: { item } as never });
    const first = fold(mapping, [startedAt(mapping, "f")]);
    const forkedOnce = apply(mapping, first, eventOn(first, "0", { done: null }));
    const step = eventOn(forkedOnce, "0.1", { done: null });
    const map = { items: [1, 2], concurrency: 1, remaining: "cancel" as const, tolerated: 0 };
    const spawned = { ...step, type: "spawned", visit: 1, children: { workflow: "item", map } } as unknown as Event;
    const running = apply(mapping, forkedOnce, spawned);
    const event = continued(mapping, running, "0", { firstNodeId: "f" });
    const next = apply(mapping, running, event);
    expect([next.childStates, next.mapItems]).toEqual([undefined, undefined]);
    // items whose steps are being undone do not go on either
    const undoing = openDraft(mapping, { ...running, mapItems: { ...running.mapItems, "0.2#1": [3] } });
    expect(evolve(undoing, event)).toBe(true);
    expect(closeDraft(undoing).mapItems).toBeUndefined();
    const { historyBytes: _, totalExecutionTime: __, lastStartedAt: ___, ...alone } = fold(mapping, [startedAt(mapping, "f"), event]);
    expect(next).toMatchObject(alone);
    expect(fold(mapping, [startedAt(mapping, "f"), eventOn(first, "0", { done: null }), spawned, event])).toEqual(next);
  });

  it("ends what the run before waited for: detached executions are cancelled", () => {
    const before = forked();
    const waits = [{ id: "0.1@2", kind: "child" as const, workflowId: "kid" }];
    const waiting = apply(flow, before, eventOn(before, "0.1", { waits }));
    const next = apply(flow, waiting, continued(flow, waiting, "0"));
    expect(next.outbox).toEqual([{ id: "3.0", type: "cancel", to: "kid", waitId: "0.1@2" }]);
    expect(next.activePaths).toHaveLength(1);
  });

  it("does not go on by an event of a step that is not current any more", () => {
    const before = forked();
    const late = continued(flow, before, "0");
    const moved = apply(flow, before, eventOn(before, "0", { done: 1 }));
    expect(apply(flow, moved, { ...late, version: moved.version + 1 })).toBe(moved);
    const cancelled = apply(flow, before, { type: "cancelled", version: 2, at: 0 });
    expect(apply(flow, cancelled, { ...late, version: 3 })).toBe(cancelled);
  });

  it("takes over the signals of its inbox: large payloads lie in the event of the new run, and the latest values of variables", () => {
    const text = "x".repeat(2_000);
    const inbox: KeptSignal[] = [
      { name: "long", payload: text, expiresAt: 9_000, inEvents: { payload: "1/payload" } },
      { name: "short", payload: 1, expiresAt: 9_000 },
      { name: "late", expiresAt: 1 },
    ];
    const variables = { x: [1, 2].map((value) => ({ value, version: value })) };
    const before: Snapshot = { ...forked(), inbox, variables };
    const event = continued(flow, before, "0");
    expect(event).toMatchObject({ inbox: [{ name: "long", payload: text }, inbox[1]], variables: { x: 2 } });
    expect(JSON.stringify(event)).not.toContain("inEvents");
    const next = apply(flow, before, event);
    expect(next.inbox).toEqual([{ ...event.inbox![0], inEvents: { payload: "2/inbox/0/payload" } }, inbox[1]]);
    expect(next.variables).toEqual({ x: [{ value: 2, version: 2 }] });
    const again = continued(flow, next, "1");
    expect({ ...again.inbox }).toEqual({ ...event.inbox });
  });

  it("keeps the number of its run in a fork, so that ids of paths do not repeat there", () => {
    const before = forked();
    const next = apply(flow, before, continued(flow, before, "0"));
    const checkpoint = takeCheckpoint(next, { reason: "fork", laterMs: 0, runsCode: false });
    const fork = fold(flow, [startedAt(flow, "f", { checkpoint })]);
    expect(fork).toMatchObject({ activePaths: [{ id: "1" }], run: { number: 2, since: 0 } });
    expect(apply(flow, fork, continued(flow, fork, "1"))).toMatchObject({ activePaths: [{ id: "2" }], run: { number: 3, since: 1 } });
  });
});

describe("large values of what goes on from another execution", () => {
  const text = "x".repeat(2_000);
  const waiting = (payload: string | undefined): Snapshot => {
    const first = fold(flow, [startedAt(flow, "f")]);
    const waits = [{ id: "0@2", kind: "external" as const, ...(payload !== undefined && { payload }) }];
    return apply(flow, first, { ...eventOn(first, "0", { waits }), sizeBytes: 3_000 } as Event);
  };

  it.each([
    ["a large payload", text, { payload: "0/checkpoint/state/activePaths/0/waits/0/payload" }],
    ["a small one", "short", undefined],
    ["none", undefined, undefined],
  ])("lie in its first event: %s", (_, payload, inEvents) => {
    const origin = waiting(payload);
    const checkpoint = takeCheckpoint(origin, { reason: "fork", laterMs: 0, runsCode: false });
    expect(JSON.stringify(checkpoint)).not.toContain("inEvents");
    const fork = fold(flow, [startedAt(flow, "f", { checkpoint })]);
    expect(fork.activePaths[0]?.waits?.[0]?.inEvents).toEqual(inEvents);
    const { incarnation: __, ...free } = startedAt(flow, "f", { checkpoint });
    expect(fold(flow, [free]).activePaths[0]?.waits?.[0]).not.toHaveProperty("inEvents");
  });

  it("are no longer referred to in the history of the origin: answers, and what a step was resumed with", () => {
    const first = fold(flow, [startedAt(flow, "f")]);
    const asked = apply(flow, first, eventOn(first, "0", { waits: [{ id: "0@2", kind: "external", payload: 1, quorum: 2 }] }));
    const answer = (version: number, who: string): Event => {
      return { type: "resumed", version, at: 5, pathId: "0", waitId: "0@2", by: "payload", who, payload: text, sizeBytes: 2_002 };
    };
    const [one, two] = [apply(flow, asked, answer(2, "ada")), apply(flow, apply(flow, asked, answer(2, "ada")), answer(3, "bob"))];
    expect(one.activePaths[0]?.waits?.[0]?.answers?.[0]?.inEvents).toEqual({ payload: "2/payload" });
    for (const origin of [one, two]) {
      const { state } = takeCheckpoint(origin, { reason: "fork", laterMs: 0, runsCode: false });
      expect(JSON.stringify(state.activePaths)).toBe(JSON.stringify(state.activePaths).replaceAll("inEvents", ""));
      expect(JSON.stringify(state.activePaths).split(text).length).toBe(JSON.stringify(origin.activePaths).split(text).length);
    }
  });

  it("are handed to a first node as payload", () => {
    const first = fold(flow, [startedAt(flow, "f", { payload: text, sizeBytes: 2_002 })]);
    expect(first.activePaths[0]?.resumed).toEqual({ by: "payload", payload: text, inEvents: { payload: "0/payload" } });
  });
});
