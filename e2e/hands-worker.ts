// A worker with the code of all nodes. It ends when it gets a message.
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { nodeDefinitions } from "./hands-nodes.ts";

const store = sqliteStore(process.argv[2]!);
const runtime = createRuntime({ store, nodeDefinitions, pollMs: 20 });
process.on("message", () => {
  void runtime
    .close()
    .then(() => store.close())
    .then(() => process.disconnect());
});
process.send?.("works");
