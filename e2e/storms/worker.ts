// A process that drives the executions of a storm, until it is killed or asked to end: see storm.ts.
import { createRuntime } from "stepfold/runtime";
import { codeOf, loadNodes } from "../kill9/load.ts";
import { openLog } from "../kill9/log.ts";
import { openSetup } from "../kill9/open-setup.ts";
import type { WorkerOptions } from "../kill9/process-options.ts";
import { workUntilEnded } from "../kill9/work-until-ended.ts";
import { stormWorkflows } from "./storm-workflows.ts";

const options = JSON.parse(process.argv[2]!) as WorkerOptions;
const { folder, name, leaseMs, pollMs } = options;
const write = openLog(folder, name);
const { around, close } = await openSetup(options, write);
const runtime = createRuntime({
  ...around,
  workflows: stormWorkflows(write),
  nodeDefinitions: loadNodes(write),
  owner: name,
  leaseMs,
  pollMs,
  maxExecutions: 30,
  maxCrashes: Number.POSITIVE_INFINITY,
  onProblem: (workflowId, error) => write({ what: "problem", workflowId, code: codeOf(error), message: String(error) }),
});

await workUntilEnded({ runtime, store: around.store, close });
