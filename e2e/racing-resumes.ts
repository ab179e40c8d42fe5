// One of several processes: opens handles on a store, and answers each wait that it is told of with all of them at once.
import { StepfoldError } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { storeFromUrl } from "stepfold/stores/from-url";
import { nodeDefinitions, racingWorkflow } from "./racing-nodes.ts";

const [url = "", log = "", handles = "1", name = ""] = process.argv.slice(2);
const stores = await Promise.all(Array.from({ length: Number(handles) }, () => storeFromUrl(url)));
const runtimes = stores.map((store) =>
  createRuntime({ store, workflows: [racingWorkflow], nodeDefinitions: nodeDefinitions(log), drive: false }),
);

/** `resume ID`: all answer its wait; `start ID`: all start it. Gives what each came to. */
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
