import { describe, expect, it } from "vitest";
import type { Event } from "./event.ts";
import type { VariableValue } from "./parts/variables.ts";
import { latestList, wholeValues, withAddedItems } from "./parts/variables.ts";
import { restore } from "./restore.ts";
import type { SnapshotHead } from "./snapshot.ts";

const definition = { id: "w", hash: "h" };
const started: Event = { type: "started", version: 0, at: 1, workflowId: "a", definition, nodeId: "n", metadata: {} };
const step = (version: number, more: object): Event => ({
  ...{ type: "completed", version, at: 1, pathId: "0", turn: version, nodeId: "n", attempt: 1, startedAt: 1, output: null },
  ...more,
});
const headOf = (version: number, ...arrivals: readonly number[]): SnapshotHead => ({
  ...{ schema: 1, workflowId: "a", definition, status: "active", currentNodeId: "n", version, metadata: {}, steps: 0, sizeBytes: 0 },
  activePaths: arrivals.map((since, index) => ({
    id: `${index}`,
    nodeId: "n",
    status: "ready",
    turn: 1,
    visit: 1,
    attempts: 0,
    since,
    stepPath: [],
  })),
});
const listAfter = (head: SnapshotHead, ...events: readonly Event[]): readonly VariableValue[] | undefined =>
  restore({ head, children: [], events: [started, ...events] }).variables?.list;

describe("a list to which steps append", () => {
  const events = [
    step(1, { variables: { list: ["a"] } }),
    step(2, { appended: { list: ["b", "c"] } }),
    step(3, { appended: { list: ["d"] }, variables: { other: 1 } }),
    step(4, { appended: { list: ["e"] } }),
  ];

  it("is the whole list again, and the values that open paths can read are kept", () => {
    expect(listAfter(headOf(4, 4), ...events)).toEqual([{ value: ["a", "b", "c", "d", "e"], version: 4 }]);
    expect(listAfter(headOf(4, 4, 2), ...events)).toEqual([
      { value: ["a", "b", "c"], version: 2 },
      { value: ["a", "b", "c", "d", "e"], version: 4 },
    ]);
    expect(listAfter(headOf(4, 1, 3, 4), ...events)?.map(({ value }) => (value as string[]).join(""))).toEqual(["a", "abcd", "abcde"]);
  });

  it("does not change the list of the event, or of the checkpoint, on which it builds", () => {
    const first = Object.freeze(["a"]);
    expect(() => listAfter(headOf(4, 4), step(1, { variables: { list: first } }), ...events.slice(1))).not.toThrow();
    const checkpoint = { version: 1, definition, metadata: {}, context: {}, variables: { list: [{ value: first, version: 1 }] } };
    const { variables } = restore({ head: headOf(4, 4), children: [], events: events.slice(1), checkpoint });
    expect(variables!.list).toEqual([{ value: ["a", "b", "c", "d", "e"], version: 4 }]);
    expect(first).toEqual(["a"]);
  });

  it("is kept beside its items where a store holds them in encoded form, and put together when they are decoded", () => {
    const code = { code: 1 };
    const encoded = [
      step(1, { variables: { list: code } }),
      step(2, { appended: { list: { code: 2 } } }),
      step(3, { appended: { list: ["d"] } }),
    ];
    const [latest] = listAfter(headOf(3, 3), ...encoded)!;
    expect(latest).toEqual({ value: code, added: [{ code: 2 }, ["d"]], version: 3 });
    expect(withAddedItems({ ...latest!, value: ["a"], added: [["b", "c"], ["d"]] })).toEqual({ value: ["a", "b", "c", "d"], version: 3 });
    expect(withAddedItems({ value: [["x"]], version: 3 })).toEqual({ value: [["x"]], version: 3 });
  });

  it("needs a value to build on, and a list", () => {
    expect(listAfter(headOf(1, 1), step(1, { appended: { list: ["b"] } }))).toBeUndefined();
    expect(wholeValues({}, { appended: { list: ["b"] } })).toEqual({ list: ["b"] });
    expect(latestList({ list: [{ value: "cut", version: 1 }] }, "list")).toEqual([]);
  });
});
