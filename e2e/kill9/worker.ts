// A process that drives whatever is due, until it is killed, or asked to end. See fleet.ts.
import { createRuntime } from "stepfold/runtime";
import { environmentOf } from "./jumping-clock.ts";
import { codeOf, loadNodes, loadWorkflows } from "./load.ts";
import { openLog } from "./log.ts";
import { loggedStore } from "./logged-store.ts";
import { openStore } from "./open-store.ts";
import type { WorkerOptions } from "./process-options.ts";

const { url, folder, name, leaseMs, pollMs, pace, maxExecutions = 30, clockJumps } = JSON.parse(process.argv[2]!) as WorkerOptions;
const write = openLog(folder, name);
const { store, close } = await openStore(url);
const runtime = createRuntime({
  store: loggedStore(store, write),
  workflows: loadWorkflows,
  nodeDefinitions: loadNodes(write, pace),
  owner: name,
  leaseMs,
  pollMs,
  maxExecutions,
  // they die here by no fault of what they drive
  maxCrashes: Number.POSITIVE_INFINITY,
  environment: environmentOf(clockJumps),
  onProblem: (workflowId, error) => write({ what: "problem", workflowId, code: codeOf(error), message: String(error) }),
});

process.once("SIGTERM", async () => {
  await runtime.close();
  await close();
  process.exit(0);
});
// whoever started it is gone
process.once("disconnect", () => process.exit(3));
await store.list({ limit: 1 });
process.send?.("ready");
