import { describe, expect, it } from "vitest";
import { graph } from "../../../test/core/execution.fixture.ts";
import { isInCycle } from "./reached-from.ts";

describe("isInCycle", () => {
  const { nodes } = graph(["a>b", "b>c", "c>b", "c>d", "s>s", "a>s"]);
  const inCycle = [...nodes.values()].filter(isInCycle).map(({ node }) => node.id);

  it("finds the nodes that a path can come to again, be it at once", () => expect(inCycle.sort()).toEqual(["b", "c", "s"]));
});
