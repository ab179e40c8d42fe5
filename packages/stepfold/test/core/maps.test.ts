import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { Event } from "../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { apply } from "../../src/core/transition/apply.ts";
import { bench, flow } from "../nodes/workflow.fixture.ts";
import { changed } from "./changed.fixture.ts";

const item = flow("item", { ask: "approval", bad: ["fail", { message: "too dear" }] }, ["ask>bad@rejected"]);
const mapped = (data: object, more: object = {}): ReturnType<typeof bench>["engine"] =>
  bench(flow("root", { m: ["map", { workflow: "item", items: [1, 2, 3], ...data }] }, [], { workflows: { item }, ...more })).engine;
type Engine = ReturnType<typeof mapped>;

const answer = (engine: Engine, snapshot: Snapshot, i: number, approved = true): Promise<Snapshot> =>
  engine.execute({ snapshot, target: `m[${i}]/ask`, externalPayload: { approved } });

describe("a map", () => {
  it("is complete with as many items as an expression says: the number itself, or whether it is reached", async () => {
    for (const completeWhen of ["input.needed", "done >= input.needed"]) {
      const engine = mapped({ completeWhen });
      const begun = await engine.execute({ workflowId: "w", input: { needed: 2 } });
      const one = await answer(engine, begun, 2);
      expect(one.status).toBe("paused");
      expect(await answer(engine, one, 0)).toMatchObject({ status: "completed", output: [{ approved: true }, null, { approved: true }] });
    }
  });

  it("takes no item that comes once it is closed, and is not closed twice", async () => {
    const engine = mapped({ open: true });
    const closed = await engine.send(await engine.execute({ workflowId: "w" }), { type: "closeMap", node: "m" });
    const stamp = { version: closed.version + 1, at: 0 };
    const late: Event[] = [
      { type: "itemAdded", ...stamp, pathId: "0", item: 4 },
      { type: "itemAdded", ...stamp, pathId: "9", item: 4 },
      { type: "mapClosed", ...stamp, pathId: "0" },
      { type: "mapClosed", ...stamp, pathId: "9", completes: true },
    ];
    for (const event of late) expect(apply(engine.workflow, closed, event)).toBe(closed);
  });

  it("that is open fails with one item too many, but with too large a share only once it is closed", async () => {
    for (const [toleratedFailures, statuses] of [
      [1, ["paused", "failed"]],
      [0, ["failed"]],
      ["20%", ["paused", "paused"]],
    ] as const) {
      const engine = mapped({ open: true, toleratedFailures });
      let snapshot = await engine.execute({ workflowId: "w" });
      for (const [i, status] of statuses.entries()) {
        snapshot = await answer(engine, snapshot, i, false);
        expect(snapshot.status).toBe(status);
      }
    }
  });

  it("says why its first item failed, where a snapshot from elsewhere says it", async () => {
    const engine = mapped({ toleratedFailures: 1 });
    const begun = await engine.execute({ workflowId: "w" });
    const one = await answer(engine, begun, 1, false);
    expect(one.status).toBe("paused");
    const intolerant = { "/activePaths/0/children/map/tolerated": 0 };
    const told = readSnapshot(changed(one, intolerant), engine.workflow);
    expect((await answer(engine, told, 0)).error?.message).toContain("item 1: too dear");
    const silent = readSnapshot(changed(one, { ...intolerant, "/childStates/0#1~11/error": undefined }), engine.workflow);
    expect((await answer(engine, silent, 0)).error?.message).toContain("unknown");
  });

  it("fails for the item that has failed, and leaves one that is still undoing what it did to finish that", async () => {
    const refused = flow("item", { pay: "noop", ask: "approval", bad: ["fail", { message: "too dear" }] }, ["pay>ask", "ask>bad@rejected"]);
    const { nodes, ...rest } = refused as { nodes: object[] };
    const undone = { ...rest, nodes: [{ ...nodes[0], compensate: { type: "approval" } }, ...nodes.slice(1)] };
    const map = ["map", { workflow: "item", items: [1, 2] }] as const;
    const { engine } = bench(flow("root", { m: map, after: "noop" }, ["m>after@error"], { workflows: { item: undone } }));
    let snapshot = await engine.execute({ workflowId: "w" });
    for (const i of [0, 1]) snapshot = await answer(engine, snapshot, i, false);
    expect(snapshot.status).toBe("paused");
    snapshot = await engine.execute({ snapshot, target: "m[1]/pay", externalPayload: { approved: true } });
    expect(snapshot.context).toMatchObject({ m: [{ error: expect.stringContaining("item 1: too dear") }], after: [{}] });
    expect(snapshot).toMatchObject({ status: "paused", childStates: { "0#1/0": { status: "paused", ending: { status: "failed" } } } });
    expect(readSnapshot(JSON.parse(JSON.stringify(snapshot)), engine.workflow)).toEqual(snapshot);
    const over = await engine.execute({ snapshot, externalPayload: { approved: true } });
    expect(over.status).toBe("completed");
  });
});

describe("a snapshot that did not come through readSnapshot, such as one put together from a damaged store", () => {
  it("is refused where a path joins at a node, or a round is told of one, that joins nothing, and where a child runs what is not there", async () => {
    const engine = mapped({});
    const begun = await engine.execute({ workflowId: "w" });
    const { workflow } = bench({
      id: "j",
      nodes: [
        { id: "f", type: "noop" },
        { id: "j", type: "noop", join: "all" },
      ],
      edges: [{ source: "f", target: "j" }],
    }).engine;
    const path = { id: "0", nodeId: "f", status: "joining", turn: 1, visit: 1, attempts: 0, since: 0, stepPath: [] } as const;
    const cancelled: Event = { type: "cancelled", version: begun.version + 1, at: 0 };
    const { childStates: _, ...rest } = begun;
    for (const damaged of [
      { ...rest, activePaths: [path] },
      { ...rest, activePaths: [{ ...path, status: "ready" as const }], rounds: { "f|": { got: [] } } },
      {
        ...begun,
        activePaths: [],
        childStates: { "0#1": { ...begun.childStates!["0#1/0"]!, status: "active" as const, workflow: "gone" } },
      },
    ])
      expect(() => apply(workflow, damaged, cancelled)).toThrow(expect.objectContaining({ code: "SNAPSHOT_INVALID" }));
  });
});
