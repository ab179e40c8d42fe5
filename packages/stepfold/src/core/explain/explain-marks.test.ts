import { describe, expect, it } from "vitest";
import { at, engineOf, hour, inTime } from "../../../test/core/explain.fixture.ts";
import { flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { explain } from "./explain.ts";
import type { MarkedSentence } from "./explain-marks.ts";

const parts = ({ sentence, marks }: MarkedSentence): string[] => marks.map(({ kind, from, to }) => `${kind} ${sentence.slice(from, to)}`);

describe("marks of a sentence", () => {
  it("say where places, people, handles and times stand", async () => {
    const timeoutEdge = { ask: ["approval", { timeout: "1h", responders: ["ada", "bob"] }], no: "noop" } as const;
    const engine = engineOf(flow("w", timeoutEdge, ["ask>no@timeout"]));
    const explained = explain(await engine.execute({}), engine.workflow);
    const told = ["person ada", "person bob", `time ${inTime(hour)}`, 'handle "timeout"'];
    expect(parts(explained)).toEqual(["place ask", ...told]);
    expect(parts(explained.places[0]!)).toEqual(told);
  });

  it("do not search what is quoted: a name in a message is no name", async () => {
    const engine = engineOf(flow("w", { b: ["fail", { message: "boom <b>bold</b> at b since 2026-01-31T00:00:00.000Z" }] }));
    const explained = explain(await engine.execute({}));
    expect(explained.sentence).toMatch(/^Failed at b: boom <b>bold<\/b> at b since/);
    expect(explained.marks).toEqual([{ kind: "place", from: 10, to: 11 }]);
  });

  it("cannot be forged by what is quoted, and leave no sign behind", async () => {
    const signs = "\ufdd0charge\ufdd4 \ufdd1ada\ufdd4\ufdd4";
    const failed = {
      ...at(),
      status: "failed",
      currentNodeId: "f",
      error: { name: "E", message: signs, code: signs },
    } as unknown as Snapshot;
    const explained = explain(failed);
    expect(explained.sentence).toBe("Failed at f: charge ada (charge ada).");
    expect(parts(explained)).toEqual(["place f"]);
    const waiting = at({ nodeId: signs, status: "suspended", waits: [{ kind: "external", responders: [signs] }] });
    expect(parts(explain(waiting))).toEqual(["place charge ada", "person charge ada"]);
    expect(explain(waiting).next?.sentence ?? explain(waiting).sentence).not.toMatch(/[\ufdd0-\ufdd4]/);
  });

  it("are at the items of a map and at branches too", async () => {
    const engine = engineOf({
      id: "w",
      nodes: [
        { id: "s", type: "noop" },
        { id: "a", type: "approval" },
        { id: "b", type: "noop" },
        { id: "j", type: "noop", join: "all" },
      ],
      edges: [
        { source: "s", target: "a" },
        { source: "s", target: "b" },
        { source: "a", target: "j", sourceHandle: "approved" },
        { source: "b", target: "j" },
      ],
    });
    const explained = explain(await engine.execute({}), engine.workflow);
    const join = explained.places.find(({ address }) => address === "j")!;
    expect([join.sentence, parts(join)]).toEqual(["waits for the branch at a", ["place a"]]);
  });
});
