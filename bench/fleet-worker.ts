// A worker that runs in a process of its own. See fleet.ts.
import { createRuntime } from "stepfold/runtime";
import { storeFromUrl } from "stepfold/stores/from-url";
import type { WorkerSetting } from "./fleet.ts";
import { benchQueue } from "./fleet-queue.ts";
import { fleetNodes, fleetWorkflows } from "./fleet-workflows.ts";

const setting = JSON.parse(process.argv[2]!) as WorkerSetting;
const tellEveryMs = 50;

let marks: [string, number][] = [];
const store = await storeFromUrl(setting.store);
const queue = setting.queue && (await benchQueue(setting.queue));
const runtime = createRuntime({
  store,
  workflows: fleetWorkflows,
  nodeDefinitions: fleetNodes((workflowId) => marks.push([workflowId, Date.now()])),
  drive: false,
  ...(queue && { queue }),
  onProblem: (workflowId, error) => console.error(workflowId, error),
});
const worker = runtime.work({ concurrency: setting.concurrency });
const telling = setInterval(() => {
  if (marks.length > 0) process.send!(marks);
  marks = [];
}, tellEveryMs);
process.send!("ready");
process.on("message", async () => {
  clearInterval(telling);
  await worker.stop();
  await runtime.close();
  await queue?.close();
  await store.close();
  process.exit(0);
});
