// A process that drives schedules and their executions, until it is killed or asked to end. See schedules-kills.test.ts.
import { createRuntime } from "stepfold/runtime";
import { schedules } from "stepfold/schedules";
import { codeOf } from "../kill9/load.ts";
import { openLog } from "../kill9/log.ts";
import { openStore } from "../kill9/open-store.ts";
import { workUntilEnded } from "../kill9/work-until-ended.ts";
import { work, workNodes } from "./work.ts";

/** The options of a worker. */
export interface TickWorkerOptions {
  /** The URL of the store. */
  readonly url: string;
  /** The folder of its log. */
  readonly folder: string;
  /** The name of the process, unique among all processes of the run. */
  readonly name: string;
  readonly leaseMs: number;
  readonly pollMs: number;
}

const { url, folder, name, leaseMs, pollMs } = JSON.parse(process.argv[2]!) as TickWorkerOptions;
const write = openLog(folder, name);
const { store, close } = await openStore(url);
const runtime = createRuntime({
  store,
  workflows: [work],
  nodeDefinitions: workNodes(write),
  schedules: schedules(),
  owner: name,
  leaseMs,
  pollMs,
  // a kill is not the fault of the executions, so no number of crashes parks them
  maxCrashes: Number.POSITIVE_INFINITY,
  onProblem: (workflowId, error) => write({ what: "problem", workflowId, code: codeOf(error), message: String(error) }),
});
await workUntilEnded({ runtime, store, close });
