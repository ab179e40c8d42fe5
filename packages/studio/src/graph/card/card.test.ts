import { afterEach, describe, expect, it } from "vitest";
import { flow, type History, loop, order, parcels, second, startHistory } from "../../../test/execution/history.fixture.ts";
import { stateNow } from "../../../test/execution/state.fixture.ts";
import { cardsOf, graphOf } from "../graph.ts";
import type { Card } from "./card.ts";

let history: History;

afterEach(() => history.close());

const idle = () => ({ since: null, owner: null });

async function cardsNow(workflow = order): Promise<ReadonlyMap<string, Card>> {
  return cardsOf(graphOf(workflow, "x", new Map()), await stateNow(history), idle, new Map());
}

describe("cardOf", () => {
  it("says what matters in each state", async () => {
    history = await startHistory(order, { total: 1 });
    const cards = await cardsNow();
    expect(cards.get("price")).toMatchObject({ status: "completed", fact: { text: "0 ms" }, badges: [], taken: [""] });
    expect(cards.get("charge")).toMatchObject({
      status: "retrying",
      fact: { text: "attempt 2 of 3" },
      note: { text: "503 Service Unavailable" },
    });
    expect(cards.get("charge")!.fact.until! - cards.get("charge")!.fact.from!).toBe(10 * second);
    expect(cards.get("approve")).toMatchObject({ status: "paused", fact: { until: expect.any(Number) }, note: null });
    expect(cards.get("shipped")).toMatchObject({ status: "not-yet", fact: { text: "join all, 0 of 2" } });
  });

  it("says that a step left by a handle without an edge, so that its path ends there", async () => {
    const workflow = flow(
      "gate",
      [
        { id: "call", type: "gate" },
        { id: "next", type: "noop" },
      ],
      ["call>next"],
    );
    history = await startHistory(workflow, {});
    const cards = await cardsNow(workflow);
    expect(cards.get("call")).toMatchObject({ status: "completed", note: { text: "→ auth-error, ends here", isBad: true } });
    expect(cards.get("next")).toMatchObject({ status: "not-reached" });
  });

  it("counts visits and items", async () => {
    history = await startHistory(loop, { rounds: 1_200 });
    expect((await cardsNow(loop)).get("count")).toMatchObject({ badges: ["×1,200"], status: "completed" });
    history.close();
    history = await startHistory(parcels, { items: [1, 2, 3] });
    await history.run.resume({ step: "pack[1]/ask", payload: { approved: true } });
    await history.environment.settle();
    const card = (await cardsNow(parcels)).get("pack")!;
    expect(card).toMatchObject({ type: "map · 3 items", fact: { text: "1 of 3" }, items: { total: 3, done: 1, waiting: 2 } });
  });

  it("says of a failure how often it was tried, and its code", async () => {
    const workflow = flow("fails", [{ id: "pay", type: "broken" }]);
    history = await startHistory(workflow, {});
    expect((await cardsNow(workflow)).get("pay")).toMatchObject({
      status: "failed",
      fact: { text: "0 ms" },
      note: { text: "DECLINED: The card has expired", isBad: false },
    });
  });

  it("is as high as what it shows", async () => {
    history = await startHistory(order, { total: 1 });
    const cards = await cardsNow();
    expect(["price", "charge", "approve"].map((id) => cards.get(id)!.height)).toEqual([78, 78 + 24, 78 + 9 + 2 * 22]);
  });

  it("is the same object as before if nothing has changed", async () => {
    history = await startHistory(order, { total: 1 });
    const graph = graphOf(order, "x", new Map());
    const before = cardsOf(graph, await stateNow(history), idle, new Map());
    await history.run.resume({ step: "approve", payload: { approved: true }, by: "ada" });
    await history.environment.settle();
    const after = cardsOf(graph, await stateNow(history), idle, before);
    expect(after.get("price")).toBe(before.get("price"));
    expect(after.get("approve")).not.toBe(before.get("approve"));
  });

  it("names the process that holds what runs", async () => {
    history = await startHistory(order, { total: 1 });
    const state = await stateNow(history, 1);
    const running = (nodeId: string) => (nodeId === "charge" ? { since: 5, owner: "worker-3" } : idle());
    expect(cardsOf(graphOf(order, "x", new Map()), state, running, new Map()).get("charge")).toMatchObject({
      status: "active",
      fact: { text: "worker-3", since: 5 },
    });
  });
});
