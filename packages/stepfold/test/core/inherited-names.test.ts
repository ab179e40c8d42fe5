import { describe, expect, it } from "vitest";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { apply, fold } from "../../src/core/transition/apply.ts";
import { completing, eventOn, graph, startedAt } from "./execution.fixture.ts";

const viaJson = (snapshot: Snapshot): unknown => JSON.parse(JSON.stringify(snapshot));

/** Names that every object has, and that a node may have as well. */
describe.each(["toString", "valueOf", "hasOwnProperty"])("a node called %s", (name) => {
  it("has its own results, waves and rounds, and none of its namesakes", () => {
    const flow = graph([`${name}>a`, `${name}>b`, "a>j", "b>j"], [{ id: "j", type: "noop", join: "all" }]);
    const forked = completing(flow, fold(flow, [startedAt(flow, name)]), "0", "x");
    expect(forked.context[name]).toHaveLength(1);
    const joined = completing(flow, completing(flow, forked, "0", "a"), "0.1", "b");
    expect(readSnapshot(viaJson(joined), flow)).toEqual(joined);
    expect(completing(flow, joined, "0", "j")).toMatchObject({ status: "completed", output: "j" });
  });

  it("is a fork that a path has not come through", () => {
    const flow = graph(
      [`${name}>a`, `${name}>b`, "f>g", "f>h", "g>a", "h>b", "a>j", "b>j", "j>x", "g>k", "h>k"],
      [
        { id: "j", type: "noop", join: "all" },
        { id: "k", type: "noop", join: "all" },
      ],
      { start: name },
    );
    let snapshot = fold(flow, [startedAt(flow, "f")]);
    for (let i = 0; i < 12 && snapshot.activePaths.length > 0; i++) {
      const ready = snapshot.activePaths.find(({ status }) => status === "ready");
      if (ready) snapshot = apply(flow, snapshot, eventOn(snapshot, ready.id, { done: ready.nodeId }));
      expect(JSON.stringify(snapshot)).not.toContain("native code");
    }
    expect(snapshot.status).toBe("completed");
    expect(snapshot.context.j).toHaveLength(1);
  });

  it("does not disturb conditions that look at other nodes", () => {
    const flow = graph([`f>${name}`, "f>b"], [{ id: "b", type: "noop", when: "paths.f.length == 0" }]);
    const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
    expect(forked.activePaths.map(({ nodeId, status }) => `${nodeId} ${status}`)).toEqual([`${name} ready`, "b ready"]);
  });
});
