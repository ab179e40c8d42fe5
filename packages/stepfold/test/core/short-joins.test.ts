import { describe, expect, it } from "vitest";
import { comparePathIds } from "../../src/core/snapshot/parts/path-id.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { apply, fold } from "../../src/core/transition/apply.ts";
import { completing, eventOn, graph, startedAt } from "./execution.fixture.ts";

/** Runs a fork into `a` and `b`, of which only `a` reaches the join; the join wants two branches. */
const short = (edges: readonly string[]): Snapshot => {
  const flow = graph(["f>a", "f>b", "a>j", "b>j", ...edges], [{ id: "j", type: "noop", join: 2 }]);
  const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
  const joining = completing(flow, forked, "0", "from a");
  return apply(flow, joining, eventOn(joining, "0.1", { done: null, handles: ["nowhere"] }));
};

describe("a join that too few branches come to", () => {
  it("fails the execution", () => {
    const failed = short([]);
    expect(failed).toMatchObject({ status: "failed", error: { code: "JOIN_SHORT", nodeId: "j" }, currentNodeId: "j" });
  });

  it("goes on by its edge for errors, with the failure as its output", () => {
    const caught = short(["j>e@error"]);
    expect(caught.activePaths).toMatchObject([{ nodeId: "e", status: "ready" }]);
    expect(caught.context.j).toMatchObject([{ error: expect.stringContaining("only 1 arrived"), output: { code: "JOIN_SHORT" } }]);
  });

  it("fails the execution where that edge leads back to it: it would come short again for ever", () => {
    const circling = short(["j>j@error"]);
    expect(circling).toMatchObject({ status: "failed", error: { code: "JOIN_SHORT" } });
    expect(circling.context.j).toHaveLength(2);
  });
});

describe("paths that only wait for each other", () => {
  it("fail the execution, and it says where", () => {
    const flow = graph(
      ["f>a", "f>b"],
      [
        { id: "a", type: "noop", when: "nodes.b.last != null" },
        { id: "b", type: "noop", when: "nodes.a.last != null" },
      ],
    );
    const stalled = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
    expect(stalled).toMatchObject({ status: "failed", error: { code: "STALLED", message: expect.stringContaining("a, b") } });
  });

  it("are held again where a condition holds no more before they have begun", () => {
    const flow = graph(["f>g", "f>b", "g>h"], [{ id: "b", type: "noop", when: "nodes.g.last == null" }]);
    const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
    const standing = ({ activePaths }: Snapshot): string[] => activePaths.map(({ nodeId, status }) => `${nodeId} ${status}`);
    expect(standing(forked)).toEqual(["g ready", "b ready"]);
    expect(standing(completing(flow, forked, "0", "y"))).toEqual(["h ready", "b held"]);
  });

  it("go on by a condition that looks at any node", () => {
    const held = { id: "b", type: "noop", when: "paths[nodes.f.last.data].length == 0" };
    const flow = graph(["f>a", "f>b"], [held]);
    const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "a");
    expect(forked.activePaths.map(({ nodeId, status }) => `${nodeId} ${status}`)).toEqual(["a ready", "b held"]);
    expect(completing(flow, forked, "0", "x").activePaths.map(({ nodeId, status }) => `${nodeId} ${status}`)).toEqual(["b ready"]);
  });

  it("fail it where a condition cannot be evaluated, unless an edge for errors takes that", () => {
    const waiting = { id: "a", type: "noop", when: "nodes.f.last.data.member.of" };
    for (const [edges, status] of [
      [["f>a"], "failed"],
      [["f>a", "a>e@error"], "active"],
    ] as const) {
      const flow = graph(edges, [waiting]);
      expect(completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x").status).toBe(status);
    }
  });
});

describe("seniority", () => {
  it("is that of the shorter id, then of the lower one; a path is as old as itself", () => {
    expect(["0.10", "0.2", "0", "0.1"].sort(comparePathIds)).toEqual(["0", "0.1", "0.2", "0.10"]);
    expect(comparePathIds("0.1", "0.1")).toBe(0);
  });
});
