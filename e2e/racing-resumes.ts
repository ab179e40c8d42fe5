// One of several processes that opens several handles on a store, and answers each wait with all of them at the same time.
import { StepfoldError } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { storeFromUrl } from "stepfold/stores/from-url";
import { nodeDefinitions, racingWorkflow } from "./racing-nodes.ts";

const [url = "", log = "", handles = "1", name = ""] = process.argv.slice(2);
const stores = await Promise.all(Array.from({ length: Number(handles) }, () => storeFromUrl(url)));
const runtimes = stores.map((store) =>
  createRuntime({ store, workflows: [racingWorkflow], nodeDefinitions: nodeDefinitions(log), drive: false }),
);

/**
 * `resume ID`: all handles answer the wait of the execution; `start ID`: all handles start it. The reply has the result of each handle.
 */
process.on("message", async (message: string) => {
  const [action, workflowId = ""] = message.split(" ");
  const answers = await Promise.allSettled(
    runtimes.map(async (runtime, i) => {
      if (action === "start") await runtime.start("race", { workflowId });
      else await (await runtime.get(workflowId)).resume({ payload: { by: `${name}${i}` } });
    }),
  );
  const verdicts = answers.map((answer) => {
    if (answer.status === "fulfilled") return "applied";
    return StepfoldError.is(answer.reason) ? answer.reason.code : String(answer.reason);
  });
  process.send?.(verdicts);
});
process.send?.([]);
