import { describe, expect, it } from "vitest";
import { NodesView } from "./nodes-view.ts";

describe("NodesView", () => {
  it("is known as one, also if a second copy of this package made it", () => {
    const view = new NodesView({}, 0);
    const ofCopy = { "~nodesView": () => view["~nodesView"]() };
    expect([NodesView.is(view), NodesView.is(ofCopy), ofCopy["~nodesView"]()]).toEqual([true, true, true]);
    expect([{}, { "~nodesView": true }, null, "~nodesView"].map((value) => NodesView.is(value))).toEqual([false, false, false, false]);
  });
});
