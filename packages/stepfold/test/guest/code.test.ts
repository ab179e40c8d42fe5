import { describe, expect, it } from "vitest";
import { defineDurable } from "../../src/durable/define-durable.ts";
import { createGuest } from "../../src/guest/create-guest.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

const code = defineDurable({ id: "greet", run: ({ step }) => step.run("hello", () => "hello") });
const nodes = [{ id: "inner", type: "workflow", data: { workflow: "greet" } }];
const around = { id: "around", nodes, edges: [], workflows: { greet: code.definition } };

describe("a guest", () => {
  it.each([
    ["of code", code, "greet"],
    ["of the definition of code", code.definition, "greet"],
    ["of a graph with code in it", around, "around"],
  ])("%s is refused when it is made", (_name, workflow, id) => {
    const nodeDefinitions = { ...builtinNodes, ...code.nodes };
    const refused = expect.objectContaining({ code: "CODE_UNSUPPORTED", details: { workflow: id } });
    expect(() => createGuest({ workflows: [workflow], nodeDefinitions })).toThrow(refused);
  });
});
