import { expect, it } from "vitest";
import { bench, flow } from "../../../test/nodes/workflow.fixture.ts";
import { expressionLanguage } from "../../expressions/expression-language.ts";
import { compile } from "../definition/compile.ts";
import { workflowOf } from "./workflow-of.ts";

const inner = flow("inner", { ask: "approval" });
const middle = flow("middle", { all: ["map", { workflow: "inner", items: ["a"] }] }, [], { workflows: { inner } });
const root = flow("root", { sub: ["workflow", { workflow: "middle" }] }, [], { workflows: { middle } });

it("tells which workflow a scope runs, and undefined of a scope or workflow that is not there", async () => {
  const snapshot = await bench(root).engine.execute({});
  const compiled = compile(root, expressionLanguage);
  const nameOf = (scope: string): string | undefined => workflowOf(compiled, snapshot, scope)?.definition.id;
  expect(["", "0#1", "0#1>0#1/0"].map(nameOf)).toEqual(["root", "middle", "inner"]);
  expect(nameOf("0#9")).toBeUndefined();
  expect(workflowOf(compile(inner, expressionLanguage), snapshot, "0#1>0#1/0")).toBeUndefined();
  expect(workflowOf(compiled, { ...snapshot, childStates: undefined }, "0#1")).toBeUndefined();
});
