import { explain, waits } from "stepfold";
import { afterEach, describe, expect, it } from "vitest";
import { flow, type History, parcels, startHistory } from "../../test/execution/history.fixture.ts";
import { answerRefusal, isDue, isFor, leadPlaces, rootNode } from "./places.ts";

let history: History;

afterEach(() => history.close());

const both = flow(
  "both",
  [
    { id: "start", type: "noop" },
    { id: "nap", type: "wait", data: { for: "1 hour" } },
    { id: "open", type: "approval" },
    { id: "named", type: "approval", data: { responders: ["bob", "cy"], quorum: 2 } },
    { id: "join", type: "noop", join: "all" },
    { id: "quick", type: "noop" },
  ],
  ["start>nap", "start>open", "start>named", "start>quick", "nap>join", "quick>join", "open>join@approved", "named>join@approved"],
);

describe("leadPlaces", () => {
  it("puts first what the caller is asked for, then what anybody can move, and leaves joins out of the others", async () => {
    history = await startHistory(both, {});
    const explanation = explain(await history.run.snapshot());
    expect(leadPlaces(explanation, { id: "bob" }).lead?.address).toBe("named");
    const { lead, others, more, moreNoun } = leadPlaces(explanation, { id: "eve" });
    expect([lead?.address, others.map(({ address }) => address).sort(), more, moreNoun]).toEqual(["open", ["named", "nap"], 1, "place"]);
  });

  it("does not tell the items of a map beside the map as if they were more", async () => {
    history = await startHistory(parcels, { items: [1, 2, 3, 4, 5, 6, 7, 8, 9] });
    const explanation = explain(await history.run.snapshot());
    const { lead, others, more, moreNoun } = leadPlaces(explanation, { id: "ada" });
    expect([lead?.address, others.length]).toEqual(["pack[0]/ask", 3]);
    expect([more, moreNoun]).toEqual([1 + 9 - 4, "item"]);
    expect(rootNode("pack[0]/ask")).toBe("pack");
    expect(rootNode("sub/ask")).toBe("sub");
    expect(rootNode("ask")).toBe("ask");
  });

  it("is empty for an execution that has ended", () => {
    expect(leadPlaces({ places: [], more: 0 }, { id: "ada" })).toEqual({ lead: null, others: [], more: 0, moreNoun: "place" });
  });
});

describe("a place that is ready", () => {
  it("is due, unless the execution is parked", async () => {
    history = await startHistory(both, {});
    const snapshot = await history.run.snapshot();
    const ready = {
      ...snapshot,
      status: "active",
      activePaths: [{ ...snapshot.activePaths[0]!, status: "ready", waits: undefined }],
    } as never;
    const parked = { ...(ready as object), status: "parked", parked: { code: "COMPENSATION_FAILED", message: "no", at: 1 } } as never;
    expect([explain(ready), explain(parked)].map((told) => isDue(told.places[0]!, told))).toEqual([true, false]);
    expect(isDue({ status: "suspended" }, { status: "active" })).toBe(false);
  });
});

describe("answerRefusal", () => {
  it("says who may answer, and who has done so", async () => {
    history = await startHistory(both, {});
    await history.run.resume({ step: "named", payload: { approved: true }, by: "bob" });
    const named = waits(await history.run.snapshot()).find(({ address }) => address === "named")!;
    expect(answerRefusal(named, { id: "cy" })).toBeNull();
    expect(answerRefusal(named, { id: "bob" })).toContain("has answered already");
    expect(answerRefusal(named, { id: "eve" })).toBe("Only bob or cy may answer.");
    expect([isFor(named, { id: "cy" }), isFor(named, { id: "bob" }), isFor(named, { id: "eve" })]).toEqual([true, false, false]);
    const many = { ...named, responders: Array.from({ length: 9 }, (_, index) => `${"p".repeat(70)}${index}`), answered: [] };
    expect(answerRefusal(many, { id: "eve" })).toMatch(/^Only p{59}…, .* and 4 others may answer\.$/);
  });
});
