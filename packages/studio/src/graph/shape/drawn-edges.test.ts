import { afterEach, describe, expect, it } from "vitest";
import { flow, type History, loop, order, second, startHistory } from "../../../test/execution/history.fixture.ts";
import { stateNow } from "../../../test/execution/state.fixture.ts";
import { layoutOf } from "../../model/layout/graph-layout.ts";
import { cardsOf, graphOf, layoutRequest } from "../graph.ts";
import { type DrawnEdge, drawnEdges } from "./drawn-edges.ts";

let history: History;

afterEach(() => history.close());

async function edgesNow(workflow = order, version?: number): Promise<DrawnEdge[]> {
  const graph = graphOf(workflow, "x", new Map());
  const state = await stateNow(history, version);
  return drawnEdges(
    workflow,
    layoutOf(layoutRequest(graph)),
    cardsOf(graph, state, () => ({ since: null, owner: null }), new Map()),
    state,
  );
}

const states = (edges: readonly DrawnEdge[]): string[] =>
  edges.map(
    ({ source, target, handle, state, count }) => `${source}>${target}${handle && `@${handle}`} ${state}${count > 1 ? ` ×${count}` : ""}`,
  );

describe("drawnEdges", () => {
  it("tells what was taken, what runs, what was not taken and what was not reached", async () => {
    history = await startHistory(order, { total: 1 });
    expect(states(await edgesNow(order, 1))).toEqual([
      "price>charge running",
      "price>approve running",
      "charge>shipped pending",
      "approve>shipped@approved pending",
      "approve>declined@rejected pending",
    ]);
    await history.environment.advance(11 * second);
    await history.run.resume({ step: "approve", payload: { approved: true }, by: "ada" });
    await history.environment.settle();
    expect(states(await edgesNow())).toEqual([
      "price>charge taken",
      "price>approve taken",
      "charge>shipped taken",
      "approve>shipped@approved taken",
      "approve>declined@rejected off",
    ]);
  });

  it("counts a loop, and leads its edge back under the cards", async () => {
    history = await startHistory(loop, { rounds: 5 });
    const edges = await edgesNow(loop);
    expect(states(edges)).toEqual(["count>more taken ×5", "more>count@true taken ×4", "more>done@false taken"]);
    const back = edges[1]!;
    const lowest = Math.max(...back.line.match(/-?[\d.]+ (-?[\d.]+)/g)!.map((pair) => Number(pair.split(" ")[1])));
    expect(back.middle.y).toBe(lowest);
    const graph = graphOf(loop, "x", new Map());
    const { places } = layoutOf(layoutRequest(graph));
    for (const { y } of places.values()) expect(lowest).toBeGreaterThan(y + 78);
  });

  it("is red for a way out that a failure took", async () => {
    const workflow = flow(
      "caught",
      [
        { id: "pay", type: "broken" },
        { id: "tell", type: "approval" },
      ],
      ["pay>tell@error"],
    );
    history = await startHistory(workflow, {});
    expect(states(await edgesNow(workflow))).toEqual(["pay>tell@error error"]);
  });

  it("draws level lines straight, and ends all of them before their cards", async () => {
    const workflow = flow(
      "line",
      [
        { id: "a", type: "noop" },
        { id: "b", type: "approval" },
      ],
      ["a>b"],
    );
    history = await startHistory(workflow, {});
    const [edge] = await edgesNow(workflow);
    const [, fromX, fromY] = /^M([\d.]+) ([\d.]+)/.exec(edge!.line)!;
    const [, toX, toY] = /L([\d.]+) ([\d.]+)$/.exec(edge!.line)!;
    expect(fromY).toBe(toY);
    const { places } = layoutOf(layoutRequest(graphOf(workflow, "x", new Map())));
    expect(Number(fromX)).toBe(places.get("a")!.x + 216);
    expect(Number(toX)).toBeLessThan(places.get("b")!.x);
    expect(edge!.head.startsWith(`M${places.get("b")!.x - 2} ${toY}`)).toBe(true);
  });
});
