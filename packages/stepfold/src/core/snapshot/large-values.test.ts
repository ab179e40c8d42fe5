import { describe, expect, it } from "vitest";
import { eventOn, graph, startedAt } from "../../../test/core/execution.fixture.ts";
import { apply, fold } from "../transition/apply.ts";
import type { Event } from "./event.ts";
import { leanHead, valueInEvents, valuesInEvents, wholeHead } from "./large-values.ts";
import { restore } from "./restore.ts";
import { snapshotHead } from "./snapshot-head.ts";

const flow = graph(["a>b"]);
const text = "x".repeat(2_000);
const started = startedAt(flow, "a");
const first = fold(flow, [started]);
const asked = { ...eventOn(first, "0", { waits: [{ id: "0@2", kind: "external", payload: text, quorum: 2 }] }), sizeBytes: 2_002 } as Event;
const answer = (version: number, who: string): Event => {
  return { type: "resumed", version, at: 5, pathId: "0", waitId: "0@2", by: "payload", payload: `${who} ${text}`, who, sizeBytes: 2_010 };
};
const events = [started, asked, answer(2, "ada"), answer(3, "bob")] as const;

describe("large values", () => {
  it("are in the snapshot, and not in the head that a store writes", () => {
    const waiting = fold(flow, [started, asked, events[2]]);
    expect(JSON.stringify(waiting).split(text)).toHaveLength(3);
    const lean = leanHead(snapshotHead(waiting));
    expect(JSON.stringify(lean)).not.toContain(text);
    expect([...valuesInEvents(lean)]).toEqual([
      ["2/payload", undefined],
      ["1/waits/0/payload", undefined],
    ]);
    expect(wholeHead(lean, (at) => valueInEvents(events, at)!)).toEqual(snapshotHead(waiting));
    expect(restore({ head: lean, children: [], events: events.slice(0, 3) })).toEqual(waiting);
  });

  it("stay where they are while a step has them", () => {
    const resumed = fold(flow, events);
    expect(resumed.activePaths[0]?.resumed?.inEvents).toEqual({ payload: "3/payload", suspendPayload: "1/waits/0/payload" });
    expect(restore({ head: leanHead(snapshotHead(resumed)), children: [], events })).toEqual(resumed);
    const done = apply(flow, resumed, eventOn(resumed, "0", { done: 1 }));
    expect(JSON.stringify(snapshotHead(done))).not.toContain(text);
  });

  it("that are in a head all the same are not read again", () => {
    const waiting = snapshotHead(fold(flow, [started, asked]));
    expect(wholeHead(waiting, () => "other")).toEqual(waiting);
  });

  it.each(["2/payload/toString", "9/payload", "1/waits/5/payload", "x", "items/0#1/0"])("are missed where there is none: %s", (at) => {
    expect(valueInEvents([started, asked], at)).toBeUndefined();
    const head = { ...snapshotHead(first), inEvents: { output: at } };
    expect(() => restore({ head, children: [], events: [started, asked] })).toThrow(expect.objectContaining({ code: "SNAPSHOT_INVALID" }));
    expect(valueInEvents([], at)).toBeUndefined();
  });
});
