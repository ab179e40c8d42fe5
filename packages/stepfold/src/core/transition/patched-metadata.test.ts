import { describe, expect, it } from "vitest";
import { completing, eventOn, graph, startedAt } from "../../../test/core/execution.fixture.ts";
import { readSnapshot } from "../reading/read-snapshot.ts";
import type { Event, MetadataSetEvent } from "../snapshot/event.ts";
import { latestMetadata, restore } from "../snapshot/restore.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { sizeOfJson } from "../values/json.ts";
import { apply, fold } from "./apply.ts";
import { patchedMetadata } from "./patched-metadata.ts";

const flow = graph(["a>b"], [], { output: "{{ metadata.stage }}" });
const first = startedAt(flow, "a", { metadata: { stage: "new", draft: true }, sizeBytes: 40 });
const begun = fold(flow, [first]);

function setting(snapshot: Snapshot, metadata: MetadataSetEvent["metadata"], more: Partial<MetadataSetEvent> = {}): MetadataSetEvent {
  return { type: "metadataSet", version: snapshot.version + 1, at: 0, metadata, ...more };
}

describe("metadata that is set", () => {
  it("keeps what a patch does not name, and loses what it sets to null", () => {
    expect(patchedMetadata({ a: 1, b: 2, c: null }, { b: 3, a: null, d: false })).toEqual({ b: 3, c: null, d: false });
    expect(patchedMetadata({ a: 1 }, { missing: null })).toEqual({ a: 1 });
  });

  it("is what the execution has from then on, and changes nothing else", () => {
    const late = apply(flow, begun, setting(begun, { stage: "late" }));
    expect(late).toMatchObject({ version: 1, status: "active", metadata: { stage: "late" }, activePaths: begun.activePaths });
    expect(late.sizeBytes).toBe(begun.sizeBytes + sizeOfJson(late.metadata) - sizeOfJson(begun.metadata));
    expect(readSnapshot(JSON.parse(JSON.stringify(late)), flow)).toEqual(late);
    expect(completing(flow, late, "0", "x", "y").output).toBe("late");
  });

  it("comes with a step too", () => {
    const step: Event = { ...eventOn(begun, "0", { done: "x" }), metadata: { stage: "paid" } } as Event;
    expect(apply(flow, begun, step)).toMatchObject({ metadata: { stage: "paid" }, context: { a: [{ output: "x" }] } });
    expect(latestMetadata([first, setting(begun, { stage: "late" }), step])).toEqual({ stage: "paid" });
    expect(latestMetadata([first, eventOn(begun, "0", { done: "x" })])).toBeUndefined();
  });

  it("is refused by an execution that has only messages to deliver", () => {
    const parent = { workflowId: "outer", waitId: "0@2", depth: 1 };
    const over = completing(flow, fold(flow, [startedAt(flow, "a", { parent })]), "0", "x", "y");
    expect(apply(flow, over, setting(over, { stage: "late" }))).toBe(over);
  });

  it("remembers the key under which it was set, also where it is put together from a store", () => {
    const event = setting(begun, { stage: "late" }, { idempotencyKey: "k" });
    const late = apply(flow, begun, event);
    const answered = [{ command: "setMetadata", key: "k", version: 1, at: event.at }];
    expect(late.answered).toEqual(answered);
    const { context: _, answered: __, ...head } = late;
    expect(restore({ head, children: [], events: [first, event], checkpoint: null }).answered).toEqual(answered);
    expect(readSnapshot(JSON.parse(JSON.stringify(late)), flow).answered).toEqual(answered);
  });
});
