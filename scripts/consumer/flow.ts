// A program as a user writes it. It is compiled and run against the packed library, with nothing else installed.
import { defineNode, StepfoldError, WorkflowEngine } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { memoryStore } from "stepfold/stores/memory";
import { sqliteStore } from "stepfold/stores/sqlite";

const greet = defineNode({
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  executor: async (data) => ({ data: { greeting: `Hello ${(data as { name: string }).name}` } }),
});

const workflow = {
  id: "greeting",
  nodes: [
    { id: "greet", type: "greet", data: { name: "{{ input.name }}" } },
    { id: "approve", type: "approval", data: { title: "{{ nodes.greet.last.data.greeting }}" } },
  ],
  edges: [{ source: "greet", target: "approve" }],
};
const nodeDefinitions = { ...builtinNodes, greet };

const engine = new WorkflowEngine({ workflow, nodeDefinitions });
const paused = await engine.execute({ input: { name: "Ada" } });
expect(paused.status, "paused");
const completed = await engine.execute({ snapshot: paused, externalPayload: { approved: true } });
expect(completed.status, "completed");

for (const store of [memoryStore(), sqliteStore(":memory:")]) {
  const runtime = createRuntime({ store, workflows: [workflow], nodeDefinitions });
  const run = await runtime.start("greeting", { input: { name: "Ada" } });
  expect((await run.settled()).status, "paused");
  await run.resume({ payload: { approved: true } });
  expect((await run.settled()).status, "completed");
  const refused = await run.resume({ payload: {} }).catch((error: unknown) => error);
  expect(StepfoldError.is(refused), true);
  await runtime.close();
  await store.close();
}

function expect(actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new TypeError(`expected ${JSON.stringify(expected)}, not ${JSON.stringify(actual)}`);
}
