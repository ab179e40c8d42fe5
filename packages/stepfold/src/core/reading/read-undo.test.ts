import { beforeAll, describe, expect, it } from "vitest";
import { changed, expectRefused } from "../../../test/core/changed.fixture.ts";
import { bench, flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { readSnapshot } from "./read-snapshot.ts";

const compensate = { type: "noop" };
const bad = ["fail", { message: "no" }] as const;

/** Makes a workflow in which the nodes named in `undone` have a `compensate`. */
function undoable(
  id: string,
  undone: readonly string[],
  ...[steps, edges, more]: Parameters<typeof flow> extends [string, ...infer R] ? R : never
): object {
  const made = flow(id, steps, edges, more) as { nodes: { id: string }[] };
  return { ...made, nodes: made.nodes.map((node) => (undone.includes(node.id) ? { ...node, compensate } : node)) };
}

// when the execution fails, the step `pay` of its sub-workflow is undone
const c = undoable("c", ["pay"], { pay: "noop", note: "noop" }, ["pay>note"]);
const paid = bench(
  undoable("root", ["reserve"], { reserve: "noop", sub: ["workflow", { workflow: "c" }], bad }, ["reserve>sub", "sub>bad"], {
    workflows: { c },
  }),
).engine;
// the step `pay` waits for an answer when its workflow fails
const d = undoable("d", ["pay"], { f: "noop", bad, pay: "approval" }, ["f>bad", "f>pay"]);
const begun = bench(flow("root", { sub: ["workflow", { workflow: "d" }] }, [], { workflows: { d } })).engine;

/** The execution undoes the step of the sub-workflow, and then its own step `reserve`. */
let undoing: Snapshot;
/** The sub-workflow undoes a step that has begun and not completed. */
let inChild: Snapshot;
let done: Snapshot;

beforeAll(async () => {
  undoing = await paid.execute({ workflowId: "w", stepLimit: 5 });
  inChild = await begun.execute({ workflowId: "w", stepLimit: 4 });
  done = await paid.execute({ snapshot: undoing });
});

const inner = "/childStates/0#1";

describe("a snapshot of an execution that is being undone", () => {
  it("is given back as it was, also where the step that is undone was a child's", () => {
    expect(undoing.activePaths[0]).toMatchObject({ id: "undo", nodeId: "pay", undoes: { scope: "0#2", pathId: "0", version: 5 } });
    expect(inChild.childStates?.["0#1"]?.ending?.begun).toEqual([{ scope: "0#1", pathId: "0.1", nodeId: "pay", acted: { visit: 1 } }]);
    expect(readSnapshot(changed(undoing, {}), paid.workflow)).toEqual(undoing);
    expect(readSnapshot(changed(inChild, {}), begun.workflow)).toEqual(inChild);
    expect(readSnapshot(changed(done, {}), paid.workflow)).toEqual(done);
    expect(done.compensations?.map(({ nodeId }) => nodeId)).toEqual(["pay", "reserve"]);
  });

  it.each<[what: string, changes: Record<string, unknown>, pointer: string, reason: string]>([
    ["that nothing is undone", { "/activePaths/0/undoes": undefined, "/activePaths/0/nodeId": "bad" }, "/ending", "must be absent"],
    ["that nothing ends", { "/ending": undefined }, "/ending", "must be present"],
    ["something else than what is undone", { "/activePaths/0/undoes": 5 }, "/activePaths/0/undoes", "object"],
    ["nobody who did it", { "/activePaths/0/undoes/pathId": "" }, "/activePaths/0/undoes/pathId", "id of a path"],
    ["a child that is not there", { "/activePaths/0/undoes/scope": "0#3" }, "/activePaths/0/undoes/scope", "key of a child, or absent"],
    ["a child that is the execution", { "/activePaths/0/undoes/scope": "" }, "/activePaths/0/undoes/scope", "key of a child"],
    ["a key that is none", { "/activePaths/0/undoes/acted": { visit: 0 } }, "/activePaths/0/undoes/acted/visit", "whole"],
    ["a key of nobody", { "/activePaths/0/undoes/acted": { visit: 1, by: 5 } }, "/activePaths/0/undoes/acted/by", "text"],
    ["a version that is none", { "/activePaths/0/undoes/version": "3" }, "/activePaths/0/undoes/version", "whole"],
    ["a result that is not there", { "/activePaths/0/undoes/version": 2 }, "/activePaths/0/undoes/version", "a result of the node"],
    ["a result of a node without any", { "/childStates/0#2/context": {} }, "/activePaths/0/undoes/version", "a result of the node"],
    ["a step that had only begun, and was not", { "/activePaths/0/undoes/version": undefined }, "/ending/begun", "being undone"],
    ["another path", { "/activePaths/1": { ...undoingPath(), id: "0" } }, "/ending", "must be absent"],
    [
      "that it waits for children",
      { "/activePaths/0/status": "suspended", "/activePaths/0/children": { key: "undo#1", workflow: "c" } },
      "/activePaths/0/children",
      "waits for them",
    ],
    ["an ending of another kind", { "/ending": "failed" }, "/ending", "object"],
    ["an ending without a status", { "/ending/status": "over" }, "/ending/status", "must be failed"],
    ["that it completes", { "/ending/status": "completed" }, "/ending/status", "cannot be completed"],
    ["an ending at no node", { "/ending/nodeId": "" }, "/ending/nodeId", "id of a node"],
    ["an ending without steps", { "/ending/begun": undefined }, "/ending/begun", "list"],
    ["an error without a message", { "/ending/error": {} }, "/ending/error", "message"],
    ["an error with a code that is none", { "/ending/error/code": 5 }, "/ending/error/code", "text"],
    ["a step begun that is none", { "/ending/begun/0": 5 }, "/ending/begun/0", "object"],
    ["a step begun at no node", { "/ending/begun/0": { pathId: "0" } }, "/ending/begun/0/nodeId", "id of a node"],
    [
      "a step begun that has completed",
      { "/ending/begun/0": { pathId: "0", nodeId: "reserve", version: 1 } },
      "/ending/begun/0/version",
      "not completed",
    ],
    ["steps begun of another kind", { "/begun": {} }, "/begun", "list"],
    ["a step that was begun, of another kind", { "/begun": [5] }, "/begun/0", "object"],
    ["a step that was begun on no path", { "/begun": [{ nodeId: "reserve" }] }, "/begun/0/pathId", "id of a path"],
    ["a step that was begun at no node", { "/begun": [{ pathId: "0" }] }, "/begun/0/nodeId", "id of a node"],
    ["a step begun that is not undone first", { "/ending/begun/0": { pathId: "0", nodeId: "reserve" } }, "/ending/begun", "being undone"],
    ["compensations of another kind", { "/compensations": {} }, "/compensations", "list"],
    ["a compensation of another kind", { "/compensations": [5] }, "/compensations/0", "object"],
    ["a compensation of nothing", { "/compensations": [{}] }, "/compensations/0/undoes", "what was undone"],
  ])("is refused with %s", (_, changes, pointer, reason) => {
    expectRefused(paid.workflow, undoing, changes, pointer, reason);
  });

  it.each<[pointer: string, value: unknown]>([
    ["/compensations/0/nodeId", 5],
    ["/compensations/0/timestamp", undefined],
    ["/compensations/0/attempt", "1"],
    ["/compensations/0/version", 99],
    ["/compensations/0/error", 5],
    ["/compensations/0/undoes/pathId", undefined],
    ["/compensations/0/undoes/scope", 5],
    ["/compensations/1/undoes/version", -0.5],
  ])("is refused with %s = %j", (pointer, value) => {
    expectRefused(paid.workflow, done, { [pointer]: value }, pointer);
  });

  it.each<[what: string, changes: Record<string, unknown>, pointer: string, reason: string]>([
    [
      "that has another name for itself",
      { [`${inner}/activePaths/0/undoes/scope`]: undefined },
      `${inner}/activePaths/0/undoes/scope`,
      'must be "0#1"',
    ],
    [
      "that undoes another step than the one that had begun",
      { [`${inner}/ending/begun/0/pathId`]: "0.2" },
      `${inner}/ending/begun`,
      "being undone",
    ],
    ["that undoes what has not begun", { [`${inner}/ending/begun`]: [] }, `${inner}/ending/begun`, "being undone"],
  ])("is refused with a child %s", (_, changes, pointer, reason) => {
    expectRefused(begun.workflow, inChild, changes, pointer, reason);
  });

  it("is refused with what is kept of a child by a name that will be given again", async () => {
    const going = await paid.execute({ workflowId: "w", stepLimit: 4 });
    const kept = going.childStates?.["0#2"];
    expect(kept).toMatchObject({ kept: true, status: "completed" });
    expect(readSnapshot(changed(going, {}), paid.workflow)).toEqual(going);
    expectRefused(paid.workflow, going, { "/childStates": { "0#4": kept } }, "/childStates/0#4", "may give");
    expectRefused(paid.workflow, going, { "/childStates": { "0.1#3": kept } }, "/childStates/0.1#3", "may give");
  });

  it("undoes nothing that it says was undone already", async () => {
    const reserved = { nodeId: "reserve", undoes: { pathId: "0", version: 2 }, output: null, timestamp: 0, attempt: 1, version: 5 };
    const read = readSnapshot(changed(undoing, { "/compensations": [reserved] }), paid.workflow);
    const over = await paid.execute({ snapshot: JSON.parse(JSON.stringify(read)) as object });
    expect(over.compensations?.map(({ nodeId }) => nodeId)).toEqual(["reserve", "pay"]);
  });

  it("that undoes a step which the definition no longer undoes belongs to another definition", () => {
    const places = [
      { "/activePaths/0/nodeId": "note" },
      { "/ending/begun": [{ pathId: "0", nodeId: "sub" }] },
      { "/begun": [{ pathId: "0", nodeId: "sub" }] },
      { "/activePaths/0/undoes/scope": undefined },
    ];
    for (const changes of places)
      expect(() => readSnapshot(changed(undoing, changes), paid.workflow)).toThrow(expect.objectContaining({ code: "DEFINITION_CHANGED" }));
  });
});

describe("a snapshot of an execution of which something could not be undone", () => {
  const broken = { type: "fail", data: { message: "no" } };
  const made = flow("w", { a: "noop", b: "noop", bad }, ["a>b", "b>bad"]) as { nodes: { id: string }[] };
  const { engine } = bench({ ...made, nodes: made.nodes.map((node) => (node.id === "bad" ? node : { ...node, compensate: broken })) });

  it("is given back as it was", async () => {
    const rests = await engine.execute({});
    expect(rests).toMatchObject({ status: "parked", ending: { again: [{ nodeId: "b" }, { nodeId: "a" }] } });
    expect(readSnapshot(changed(rests, {}), engine.workflow)).toEqual(rests);
    const given = await engine.send(rests, { type: "cancel" });
    expect(readSnapshot(changed(given, {}), engine.workflow)).toEqual(given);
  });

  it.each<[what: string, changes: Record<string, unknown>, pointer: string, reason: string]>([
    ["what is tried again of another kind", { "/ending/again": {} }, "/ending/again", "list"],
    ["another step tried first", { "/ending/again/0/nodeId": "a" }, "/ending/again", "begin with the step"],
    ["another version tried first", { "/ending/again/0/version": undefined }, "/ending/again", "begin with the step"],
    ["nothing to try", { "/ending/again": [] }, "/ending/again", "begin with the step"],
    ["a step of no node", { "/ending/again/1/nodeId": 5 }, "/ending/again/1/nodeId", "id of a node"],
    ["nodes not undone of another kind", { "/error/notUndone": [5] }, "/error/notUndone", "list of node ids"],
  ])("is refused with %s", async (_, changes, pointer, reason) => {
    expectRefused(engine.workflow, await engine.execute({}), changes, pointer, reason);
  });
});

function undoingPath(): object {
  return { id: "undo", nodeId: "bad", status: "ready", turn: 1, visit: 1, attempts: 0, since: 0, stepPath: [] };
}
