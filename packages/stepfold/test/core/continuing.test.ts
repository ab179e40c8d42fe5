import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { CompletedEvent, Event, StartedEvent } from "../../src/core/snapshot/event.ts";
import { restore } from "../../src/core/snapshot/restore.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { snapshotHead } from "../../src/core/snapshot/snapshot-head.ts";
import { apply, fold } from "../../src/core/transition/apply.ts";
import { carriedBy, takeCheckpoint } from "../../src/core/transition/take-checkpoint.ts";
import { eventOn, graph, startedAt } from "./execution.fixture.ts";

const flow = graph(["f>a", "f>b"], [], { output: "{{ nodes.nothing.last.data.at.all }}", onFailure: "finish" });
const parent = { workflowId: "outer", waitId: "0@2", depth: 1 };
const forked = (more: Partial<StartedEvent> = {}): Snapshot => {
  const first = fold(flow, [startedAt(flow, "f", more)]);
  return apply(flow, first, eventOn(first, "0", { done: null }));
};
/** The event of a step after which the execution goes on as another one. */
const continued = (snapshot: Snapshot, pathId: string, input?: number): Event => {
  const continues = { workflowId: "order-1~2", ...(input !== undefined && { input }) };
  return { ...(eventOn(snapshot, pathId, { done: null }) as CompletedEvent), terminates: true, continues };
};
const delivered = (snapshot: Snapshot): Event => ({
  type: "delivered",
  version: snapshot.version + 1,
  at: 0,
  ids: [snapshot.outbox![0]!.id],
});

describe("an execution that goes on as a new one", () => {
  it("leaves what runs at the end to that", () => {
    const closing = graph(["a>b"], ["bye"], { finally: "bye" });
    const first = fold(closing, [startedAt(closing, "a")]);
    const ending = apply(closing, first, continued(first, "0"));
    expect(ending).toMatchObject({ activePaths: [], continuedAs: { workflowId: "order-1~2" }, ending: { status: "completed" } });
    expect(ending).not.toHaveProperty("closing");
    // an execution that ends in another way runs its `finally` node itself
    const other = apply(closing, first, { type: "cancelled", version: 1, at: 0 });
    expect(other).toMatchObject({ activePaths: [{ id: "finally", nodeId: "bye" }], closing: { status: "cancelled" } });
  });

  it("is over once that is begun, without an output, and names it", () => {
    const before = forked({ parent });
    const ending = apply(flow, before, continued(before, "0", 5));
    expect(ending).toMatchObject({ status: "active", activePaths: [], continuedAs: { workflowId: "order-1~2" } });
    // no message goes to the parent, because only the last execution of the chain tells the parent of the end
    expect(ending.outbox).toEqual([{ id: "2.0", type: "continue", to: "order-1~2", input: 5 }]);
    expect(readSnapshot(JSON.parse(JSON.stringify(ending)), flow)).toEqual(ending);
    const end = apply(flow, ending, delivered(ending));
    expect(end).toMatchObject({ status: "completed", continuedAs: { workflowId: "order-1~2" } });
    expect([end.output, end.outbox]).toEqual([undefined, undefined]);
    const bare = apply(flow, before, continued(before, "0"));
    expect(bare.outbox?.[0]).not.toHaveProperty("input");
  });

  it("does not where another path of it has failed", () => {
    const before = forked();
    const failed = apply(flow, before, eventOn(before, "0.1", { error: "no", retryAt: null }));
    const end = apply(flow, failed, continued(failed, "0"));
    expect(end).toMatchObject({ status: "failed", error: { message: "no" } });
    expect([end.continuedAs, end.outbox]).toEqual([undefined, undefined]);
  });

  it("hands over the signals of its inbox: large payloads lie in the first event of the new one", () => {
    const text = "x".repeat(2_000);
    const origin = { workflowId: "order-1", version: 7 };
    const inbox = [
      { name: "long", payload: text, expiresAt: 9, inEvents: { payload: "3/payload" } },
      { name: "short", payload: 1, expiresAt: 9 },
      { name: "none", expiresAt: 9 },
    ];
    const carried = carriedBy({ ...origin, incarnation: "i" }, inbox, {
      x: [
        { value: 1, version: 3 },
        { value: 2, version: 5 },
      ],
    });
    expect(carried).toEqual({
      from: { ...origin, incarnation: "i", reason: "continueAs" },
      inbox: [{ name: "long", payload: text, expiresAt: 9 }, inbox[1], inbox[2]],
      variables: { x: 2 },
    });
    const next = fold(flow, [startedAt(flow, "f", { carried })]);
    expect(next.inbox).toEqual([{ ...carried.inbox![0], inEvents: { payload: "0/carried/inbox/0/payload" } }, inbox[1], inbox[2]]);
    expect(next.from).toEqual(carried.from);
    expect(next.variables).toEqual({ x: [{ value: 2, version: 0 }] });
    expect(restore({ head: snapshotHead(next), children: [], events: [startedAt(flow, "f", { carried })] })).toEqual(next);
    const { incarnation: _, ...free } = startedAt(flow, "f", { carried });
    expect(fold(flow, [free]).inbox).toEqual(carried.inbox);
    const bare = carriedBy(origin, [], {});
    expect(bare).toEqual({ from: { ...origin, reason: "continueAs" } });
    expect(fold(flow, [startedAt(flow, "f", { carried: bare })]).inbox).toBeUndefined();
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
    const checkpoint = takeCheckpoint(origin, { reason: "fork", laterMs: 0 });
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
      const { state } = takeCheckpoint(origin, { reason: "fork", laterMs: 0 });
      expect(JSON.stringify(state.activePaths)).toBe(JSON.stringify(state.activePaths).replaceAll("inEvents", ""));
      expect(JSON.stringify(state.activePaths).split(text).length).toBe(JSON.stringify(origin.activePaths).split(text).length);
    }
  });

  it("are handed to a first node as payload", () => {
    const first = fold(flow, [startedAt(flow, "f", { payload: text, sizeBytes: 2_002 })]);
    expect(first.activePaths[0]?.resumed).toEqual({ by: "payload", payload: text, inEvents: { payload: "0/payload" } });
  });
});
