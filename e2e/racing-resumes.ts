// One of several processes: opens handles on a file, and answers each wait that it is told of with all of them at once.
import { StepfoldError } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { nodeDefinitions } from "./racing-nodes.ts";

const [path = "", log = "", handles = "1", name = ""] = process.argv.slice(2);
const stores = Array.from({ length: Number(handles) }, () => sqliteStore(path));
const runtimes = stores.map((store) => createRuntime({ store, nodeDefinitions: nodeDefinitions(log), drive: false }));

process.on("message", async (workflowId: string) => {
  const answers = await Promise.allSettled(
    runtimes.map(async (runtime, i) => (await runtime.get(workflowId)).resume({ payload: { by: `${name}${i}` } })),
  );
  const verdicts = answers.map((answer) => {
    if (answer.status === "fulfilled") return "applied";
    return StepfoldError.is(answer.reason) ? answer.reason.code : String(answer.reason);
  });
  process.send?.(verdicts);
});
process.send?.([]);
