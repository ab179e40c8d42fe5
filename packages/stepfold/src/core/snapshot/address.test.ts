import { describe, expect, it } from "vitest";
import { bench, flow } from "../../../test/nodes/workflow.fixture.ts";
import { pathNamed } from "./address.ts";
import { openPaths } from "./target.ts";

const review = flow("review", { ask: "approval" });
const root = flow("root", { all: ["map", { workflow: "review", items: ["a", "b"] }] }, [], { workflows: { review } });

describe("pathNamed", () => {
  it("finds a path of the execution, and one of a child, by its whole name", async () => {
    const snapshot = await bench(root).engine.execute({});
    const names = [...openPaths(snapshot)].map(({ scope, path }) => (scope === "" ? path.id : `${scope}>${path.id}`));
    expect(names).toEqual(["0", "0#1/0>0", "0#1/1>0"]);
    expect(names.map((name) => pathNamed(snapshot, name)?.nodeId)).toEqual(["all", "ask", "ask"]);
  });

  it("finds nothing under a name that no open path has", async () => {
    const snapshot = await bench(root).engine.execute({});
    for (const name of ["1", "0#1/0>1", "0#1/7>0"]) expect(pathNamed(snapshot, name)).toBeUndefined();
  });
});
