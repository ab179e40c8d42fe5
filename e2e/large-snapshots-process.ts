import { defineNode } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";

// node large-snapshots-process.ts FILE fill|drive COUNT: stores due executions of 11 MB each, or drives them to their end

const [file = "", what = "", count = ""] = process.argv.slice(2);
const ids = Array.from({ length: Number(count) }, (_, index) => `large-${index}`);
const parts = ["a", "b", "c", "d", "e", "f"];
const fill = defineNode({ executor: () => ({ data: ["x".repeat(950_000), "y".repeat(950_000)] }) });
const workflow = {
  id: "large",
  nodes: [...parts.map((id) => ({ id, type: "fill" })), { id: "wait", type: "approval", data: { message: "Go on?" } }],
  edges: parts.map((source, index) => ({ source, target: parts[index + 1] ?? "wait" })),
};
const store = sqliteStore(file);
const options = { store, workflows: [workflow], nodeDefinitions: { ...builtinNodes, fill } };
const runtime = createRuntime(options);
if (what === "fill") {
  for (let first = 0; first < ids.length; first += 10) {
    const some = ids.slice(first, first + 10);
    await Promise.all(some.map(async (workflowId) => (await runtime.start("large", { workflowId })).settled()));
  }
  await runtime.close();
  // the answers come from a runtime that does not drive the executions, so all of them are due and none runs
  const desk = createRuntime({ ...options, drive: false });
  for (const workflowId of ids) await (await desk.get(workflowId)).resume({ payload: { approved: true } });
  await desk.close();
} else {
  for (const workflowId of ids) await (await runtime.get(workflowId)).result();
  await runtime.close();
}
await store.close();
console.log(JSON.stringify({ maxRssMb: process.resourceUsage().maxRSS / 1e3 }));
