import { waits } from "stepfold";
import { afterEach, describe, expect, it } from "vitest";
import { type History, loop, minute, order, parcels, second, startHistory } from "../../test/execution/history.fixture.ts";
import { endOfWait, nodeSteps } from "./node-steps.ts";

let history: History;

afterEach(() => history.close());

describe("nodeSteps", () => {
  it("gives the attempts of a node up to a version, the latest first", async () => {
    history = await startHistory(order, { total: 7 });
    await history.environment.advance(11 * second);
    const events = await history.events();
    const last = events.at(-1)!.version;
    const { steps, hasMore } = nodeSteps(events, "charge", last, 10);
    expect(steps.map(({ outcome, attempt }) => [outcome, attempt])).toEqual([
      ["completed", 2],
      ["failed", 1],
    ]);
    expect(steps[1]).toMatchObject({ error: { message: "503 Service Unavailable" }, retryAt: expect.any(Number), isUndo: false });
    expect(hasMore).toBe(false);
    expect(nodeSteps(events, "charge", steps[1]!.version, 10).steps).toHaveLength(1);
    expect(nodeSteps(events, "charge", 0, 10).steps).toEqual([]);
    expect(nodeSteps(events, "price", last, 10).steps[0]).toMatchObject({ output: { total: 7 }, handles: [""] });
    expect(nodeSteps(events, "approve", last, 10).steps[0]).toMatchObject({ outcome: "waits", output: { title: "Ship it?" } });
  });

  it("knows the end of a map, which has no attempt, and keeps its items out of it", async () => {
    history = await startHistory(parcels, { items: [1] });
    await history.run.resume({ step: "pack[0]/ask", payload: { approved: true }, by: "ada" });
    await history.environment.settle();
    const events = await history.events();
    const { steps } = nodeSteps(events, "pack", events.at(-1)!.version, 10);
    expect(steps.map(({ outcome, startedAt }) => [outcome, startedAt === null])).toEqual([
      ["completed", true],
      ["runs", false],
    ]);
    expect(steps[0]!.output).toEqual([{ approved: true, by: "ada" }]);
    expect(nodeSteps(events, "ask", events.at(-1)!.version, 10).steps).toEqual([]);
  });

  it("gives only the last ones of very many", async () => {
    history = await startHistory(loop, { rounds: 60 });
    const events = await history.events();
    const { steps, hasMore } = nodeSteps(events, "count", events.at(-1)!.version, 50);
    expect([steps.length, hasMore]).toEqual([50, true]);
    expect(steps[0]!.output).toEqual({ n: 60 });
  });
});

describe("endOfWait", () => {
  it("says who was faster, or that it was too late", async () => {
    history = await startHistory(order, { total: 7 });
    const [wait] = waits(await history.run.snapshot()).filter(({ address }) => address === "approve");
    expect(endOfWait(await history.events(), wait!.id)).toBeNull();
    await history.run.resume({ step: "approve", payload: { approved: true }, by: "bob" });
    expect(endOfWait(await history.events(), wait!.id)).toMatchObject({ what: "answered", who: "bob" });
  });

  it("knows that nobody answered in time", async () => {
    history = await startHistory(order, { total: 7 });
    const [wait] = waits(await history.run.snapshot()).filter(({ address }) => address === "approve");
    await history.environment.advance(121 * minute);
    expect(endOfWait(await history.events(), wait!.id)).toMatchObject({ what: "timed out", who: null });
  });
});
