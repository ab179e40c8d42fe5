// A process that drives all due executions, until it is killed or asked to end. See fleet.ts.
import { createRuntime } from "stepfold/runtime";
import { codeWorkflows } from "./code-load.ts";
import { freezer } from "./freezer.ts";
import { codeOf, loadNodes, workflowsWithout } from "./load.ts";
import { openLog } from "./log.ts";
import { openSetup } from "./open-setup.ts";
import type { WorkerOptions } from "./process-options.ts";
import { workUntilEnded } from "./work-until-ended.ts";

const options = JSON.parse(process.argv[2]!) as WorkerOptions;
const { folder, name, leaseMs, pollMs, pace, maxExecutions = 30, maxCrashes = Number.POSITIVE_INFINITY, lacks = [] } = options;
const write = openLog(folder, name);
const freezes = freezer(write);
const { around, close } = await openSetup(options, write, freezes);
const runtime = createRuntime({
  ...around,
  workflows: [...workflowsWithout(lacks), ...codeWorkflows(write, pace).filter(({ id }) => !lacks.includes(id))],
  nodeDefinitions: Object.fromEntries(Object.entries(loadNodes(write, pace)).filter(([type]) => !lacks.includes(type))),
  owner: name,
  leaseMs,
  pollMs,
  maxExecutions,
  // a kill is not the fault of the executions, so by default no number of crashes parks them
  maxCrashes,
  onProblem: (workflowId, error) => write({ what: "problem", workflowId, code: codeOf(error), message: String(error) }),
});

process.on("message", (message) => {
  if (message === "freeze") freezes.arm();
});
await workUntilEnded({ runtime, store: around.store, close });
