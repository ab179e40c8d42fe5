import { describe, expect, it } from "vitest";
import { completing, graph, startedAt } from "../../../test/core/execution.fixture.ts";
import { fold } from "../transition/apply.ts";
import { readSnapshot } from "./read-snapshot.ts";

const flow = graph(["a>b"]);
const permit = { key: "customer-7", limit: 2 };
const permitted = fold(flow, [startedAt(flow, "a", { permit })]);
const given = (change: object): unknown => JSON.parse(JSON.stringify({ ...permitted, ...change }));

describe("a permit", () => {
  it("is in the snapshot from the beginning, and stays", () => {
    expect(permitted).toMatchObject({ permit });
    expect(completing(flow, permitted, "0", "x", "y")).toMatchObject({ status: "completed", permit });
  });

  it("is read from outside as it was", () => {
    expect(readSnapshot(given({}), flow)).toEqual(permitted);
  });

  it.each<[unknown, string]>([
    ["x", "/permit"],
    [{ limit: 1 }, "/permit/key"],
    [{ key: "", limit: 1 }, "/permit/key"],
    [{ key: "x", limit: 0 }, "/permit/limit"],
    [{ key: "x" }, "/permit/limit"],
  ])("of %j is refused, and where", (wrong, pointer) => {
    expect(() => readSnapshot(given({ permit: wrong }), flow)).toThrow(
      expect.objectContaining({ code: "SNAPSHOT_INVALID", details: expect.objectContaining({ pointer }) }),
    );
  });
});

describe("a rate", () => {
  const rate = { key: "customer-7", limit: 2, periodMs: 60_000 };
  const rated = fold(flow, [startedAt(flow, "a", { rate })]);
  const changed = (change: object): unknown => JSON.parse(JSON.stringify({ ...rated, ...change }));

  it("is in the snapshot from the beginning, stays, and is read from outside as it was", () => {
    expect(rated).toMatchObject({ rate });
    expect(completing(flow, rated, "0", "x", "y")).toMatchObject({ status: "completed", rate });
    expect(readSnapshot(changed({}), flow)).toEqual(rated);
  });

  it.each<[unknown, string]>([
    ["x", "/rate"],
    [{ limit: 1, periodMs: 1 }, "/rate/key"],
    [{ key: "x", limit: 0, periodMs: 1 }, "/rate/limit"],
    [{ key: "x", limit: 1 }, "/rate/periodMs"],
  ])("of %j is refused, and where", (wrong, pointer) => {
    expect(() => readSnapshot(changed({ rate: wrong }), flow)).toThrow(
      expect.objectContaining({ code: "SNAPSHOT_INVALID", details: expect.objectContaining({ pointer }) }),
    );
  });
});
