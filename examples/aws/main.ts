// start ID ACCOUNT: starts an execution, whose message calls the function. show ID: shows its state.
import { explain } from "stepfold";
import { open } from "./open.ts";

const [verb, workflowId = "visitors-1", account = "ours"] = process.argv.slice(2);
const { runtime, close } = open();
if (verb === "start") {
  await runtime.start("visitors", { workflowId, input: { account } });
  console.log(`${workflowId} is started`);
} else {
  const snapshot = await (await runtime.get(workflowId)).snapshot();
  console.log(snapshot.status, snapshot.output ?? explain(snapshot).sentence);
}
await close();
