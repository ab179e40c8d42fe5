import { describe, expect, it } from "vitest";
import { bench, flow } from "../../../test/nodes/workflow.fixture.ts";
import { apply } from "../transition/apply.ts";
import type { CancelledEvent } from "./event.ts";
import type { Snapshot } from "./snapshot.ts";
import { findPaths, readTarget, type Target, targetText } from "./target.ts";

const inner = flow("inner", { ask: "approval" });
const definition = flow(
  "w",
  {
    f: "noop",
    m: ["map", { workflow: "inner", items: [1, 2, 3], concurrency: 1 }],
    ask: "approval",
    sub: ["workflow", { workflow: "inner" }],
  },
  ["f>m", "f>ask", "f>sub"],
  { workflows: { inner } },
);
const { engine } = bench(definition);
/** Returns a snapshot in which only the first item of the map has begun. */
const begun = async (): Promise<Snapshot> => engine.execute({ stepLimit: 2 });

describe("a target", () => {
  it.each<[Target, object, string]>([
    ["ask", { node: "ask" }, "ask"],
    ["0.1@2", { waitId: "0.1@2" }, "0.1@2"],
    ["0.1", { pathId: "0.1" }, "0.1"],
    ["0#1/3>0", { pathId: "0#1/3>0" }, "0#1/3>0"],
    ["m[3]", { node: "m", item: 3 }, "m[3]"],
    ["sub/m[3]", { node: "sub/m", item: 3 }, "sub/m[3]"],
    ["m[3]/ask", { node: "m[3]/ask" }, "m[3]/ask"],
    [{ node: "m[3]" }, { node: "m", item: 3 }, "m[3]"],
    [{ node: "m", item: 3 }, { node: "m", item: 3 }, "m[3]"],
    [{ waitId: "0@2" }, { waitId: "0@2" }, "0@2"],
    [{ pathId: "0" }, { pathId: "0" }, "0"],
  ])("%j names %j", (target, wanted, text) => {
    expect(readTarget(target)).toEqual(wanted);
    expect(targetText(wanted)).toBe(text);
  });

  it("may be missing, and then names any node", () => {
    expect(targetText(readTarget(undefined))).toBe("any node");
  });

  it.each([[{}], [{ node: 1 }], [{ node: "m", item: -1 }], [{ node: "m", item: 1.5 }], [null], [7]])("cannot be %j", (target) => {
    expect(() => readTarget(target as never)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("names a path by its id, and a node by itself before one of the same name in children", async () => {
    const snapshot = await engine.execute({});
    const found = (target: Target): string[] => findPaths(snapshot, target).map(({ scope, path }) => `${scope}:${path.id}`);
    expect(found("ask")).toEqual([":0.1"]);
    expect(found({ pathId: "0.1" })).toEqual([":0.1"]);
    expect(found("0.2#1>0")).toEqual(["0.2#1:0"]);
    expect(found("sub/ask")).toEqual(["0.2#1:0"]);
  });
});

describe("an item that has not begun", () => {
  const skipping = (snapshot: Snapshot, scope: string): CancelledEvent => ({
    type: "cancelled",
    version: snapshot.version + 1,
    at: 0,
    scope,
  });

  it("is cancelled once, and never begins", async () => {
    const snapshot = await begun();
    const group = snapshot.activePaths.find(({ children }) => children?.map)!.children!.key;
    const skipped = apply(engine.workflow, snapshot, skipping(snapshot, `${group}/1`));
    expect(skipped).toMatchObject({ version: snapshot.version + 1, childStates: { [`${group}/1`]: { status: "cancelled" } } });
    expect(apply(engine.workflow, skipped, skipping(skipped, `${group}/1`))).toBe(skipped);
    const again = JSON.parse(JSON.stringify(skipped)) as object;
    const answers = ["m[0]/ask", "m[2]/ask"];
    let end = await engine.execute({ snapshot: again });
    for (const target of answers) end = await engine.execute({ snapshot: end, target, externalPayload: { approved: true } });
    expect(end.context.m?.[0]?.output).toEqual([{ approved: true }, null, { approved: true }]);
  });

  it.each(["0#9/1", "0#2", "7#1>0#1/1", "0#2/3", "0.1#1/0"])("is not one where there is none: %s", async (scope) => {
    const snapshot = await begun();
    expect(apply(engine.workflow, snapshot, skipping(snapshot, scope))).toBe(snapshot);
  });
});
