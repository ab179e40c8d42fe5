// One of several processes that run loops without a pause.
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { storeFromUrl } from "stepfold/stores/from-url";
import { loopingWorkflows } from "./racing-loops-workflows.ts";

const [url = ""] = process.argv.slice(2);
const store = await storeFromUrl(url);
const runtime = createRuntime({ store, workflows: loopingWorkflows, nodeDefinitions: builtinNodes, pollMs: 50, maxExecutions: 50 });
process.on(
  "message",
  () =>
    void runtime
      .close()
      .then(() => store.close())
      .then(() => process.exit()),
);
process.send?.("ready");
