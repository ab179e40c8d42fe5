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
