import { describe, expect, it } from "vitest";
import type { Wait } from "../../snapshot/parts/wait.ts";
import { takeListedWaits } from "./close-draft.ts";
import type { Draft } from "./draft.ts";
import { type ListedWait, ListedWaits, listedWaitsOf, type WaitingPath, waitsOfSnapshot } from "./listed-waits.ts";

const path = (nodeId: string, ...waits: readonly Partial<Wait>[]): WaitingPath =>
  waits.length === 0 ? { nodeId } : { nodeId, waits: waits.map((wait, index) => ({ id: `${index}@1`, kind: "external", ...wait })) };
const listed = (...paths: readonly WaitingPath[]): readonly ListedWait[] => listedWaitsOf({ activePaths: paths });
const child = (...activePaths: readonly WaitingPath[]): never => ({ activePaths }) as never;

describe("the waits that lists know", () => {
  it("are told apart by what is asked for; what only waits for its own is none", () => {
    const signal = { kind: "signal", signal: "paid", key: "k" } as const;
    expect(listed(path("a"), path("b", {}, {}), path("c", signal), path("d", { kind: "children" }, { kind: "delivery" }))).toEqual([
      { kind: "external", nodeId: "b" },
      { nodeId: "c", ...signal },
    ]);
  });

  it("say since when they are open: the first and the last of those that differ in nothing else", () => {
    const [at, other] = [(openedAt: number) => ({ openedAt }), { key: "k" }];
    expect(listed(path("a", at(7)), path("b", at(5)), path("a", at(9), at(8)), path("a", at(3)), path("b", at(5)))).toEqual([
      { kind: "external", nodeId: "a", openedAt: 3 },
      { kind: "external", nodeId: "a", openedAt: 9 },
      { kind: "external", nodeId: "b", openedAt: 5 },
    ]);
    // without `openedAt`: an earlier version of Stepfold has opened the wait
    expect(listed(path("a", {}))).toEqual([{ kind: "external", nodeId: "a" }]);
    expect(listed(path("a", {}, at(5)), path("b", at(5), {}), path("b", { ...at(6), ...other }))).toEqual([
      { kind: "external", nodeId: "a", openedAt: 5 },
      { kind: "external", nodeId: "b", openedAt: 5 },
      { kind: "external", nodeId: "b", key: "k", openedAt: 6 },
    ]);
  });

  it("name who has not answered yet", () => {
    const answers = [{ by: "ada", at: 1 }];
    expect(listed(path("a", { responders: ["ada", "bob"], answers }))).toEqual([{ kind: "external", nodeId: "a", responders: ["bob"] }]);
    expect(listed(path("a", { answers }))).toEqual([{ kind: "external", nodeId: "a" }]);
  });

  it("are the first hundred, those of the execution itself first, and not too long", () => {
    const many = Array.from({ length: 120 }, (_, index) => path(`n${index}`, {}));
    expect(listed(...many)).toHaveLength(100);
    const people = Array.from({ length: 150 }, (_, index) => `p${index}`);
    expect(listed(path("a", { responders: people }), path("b", {}))).toEqual([
      { kind: "external", nodeId: "a", responders: people.slice(0, 100) },
    ]);
    const long = { kind: "signal", signal: "s".repeat(5_000) } as const;
    expect(listed(path("a", long), path("b", long)).map(({ nodeId }) => nodeId)).toEqual(["a"]);
    const [crowd] = listed(path("a", { responders: people.map((name) => name.padEnd(1_000, "x")) }));
    expect(crowd!.responders!.map((name) => name.slice(0, 2))).toEqual(["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"]);
    const nested = listedWaitsOf({ activePaths: [path("own", {})], childStates: { "0#1": child(path("inner", {})) } });
    expect(nested.map(({ nodeId }) => nodeId)).toEqual(["own", "inner"]);
  });
});

describe("what a commit says of waits", () => {
  const draftOf = (paths: readonly WaitingPath[], more: Partial<Draft> = {}): Draft =>
    ({ paths, children: new Map(), changed: new Set(), dropped: [], listedWaits: null, ...more }) as unknown as Draft;

  it("is only there if they have changed, and always in what writes all", () => {
    const draft = draftOf([path("a", {})]);
    expect(takeListedWaits(draft, true)).toEqual([{ kind: "external", nodeId: "a" }]);
    expect(takeListedWaits(draft, false)).toBeUndefined();
    expect(takeListedWaits(draft, true)).toHaveLength(1);
    // the wait is another object, but has the same fields
    expect(takeListedWaits({ ...draft, paths: [path("a", {})] as never }, false)).toBeUndefined();
    const ended = { ...draft, paths: [] };
    expect(takeListedWaits(ended, false)).toEqual([]);
    expect(takeListedWaits(ended, true)).toBeUndefined();
  });

  it("follows children that have changed, and those that are gone", () => {
    const [first, second] = [child(path("x", {})), child(path("y", {}))];
    const listedWaits = waitsOfSnapshot({ activePaths: [], childStates: { "0#1/0": first, "0#1/1": second } });
    expect(listedWaits).toBeInstanceOf(ListedWaits);
    const open = { root: {}, paths: [] } as never;
    const children = new Map([
      ["0#1/0", open],
      ["0#1/1", second],
    ]) as Draft["children"];
    const draft = draftOf([], { listedWaits, children, changed: new Set(["0#1/0", "0#1/1"]) });
    expect(takeListedWaits(draft, false)).toEqual([{ kind: "external", nodeId: "y" }]);
    expect(takeListedWaits({ ...draft, changed: new Set(), dropped: ["0#1/1"] }, false)).toEqual([]);
  });
});
