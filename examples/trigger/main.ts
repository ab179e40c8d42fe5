// start ID ACCOUNT: starts an execution. cancel ID: cancels it. Needs TRIGGER_SECRET_KEY.
import { tasks, wait } from "@trigger.dev/sdk";
import { triggerMailbox } from "stepfold/guest/trigger";
import type { workflow } from "./tasks.ts";

const [verb, workflowId = "visitors-1", account = "ours"] = process.argv.slice(2);
if (verb === "start") {
  const start = { workflow: "visitors", workflowId, input: { account } };
  // starts with the same id make one execution
  const run = await tasks.trigger<typeof workflow>("stepfold-workflow", start, { idempotencyKey: workflowId });
  console.log(`${workflowId} is started: ${run.id}`);
} else {
  await triggerMailbox(wait).send(workflowId, { type: "cancel" });
  console.log(`${workflowId} will be cancelled`);
}
