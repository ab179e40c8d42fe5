// A process that runs executions, and tells its parent what happens in them. See streamed-site.ts.
import { type LiveMessage, liveEvents } from "@stepfold/server";
import { createRuntime } from "stepfold/runtime";
import { storeFromUrl } from "stepfold/stores/from-url";
import { type Orders, tickingNodes, tickingWorkflows } from "./ticking-workflows.ts";

/** What a driving process gets at its start. */
export interface DrivingSetting {
  /** The URL of the store. */
  readonly store: string;
  readonly orders: Orders;
}

/** What it tells. */
export type FromDriving = { readonly type: "ready" } | { readonly type: "live"; readonly message: LiveMessage };

const { store: url, orders } = JSON.parse(process.argv[2]!) as DrivingSetting;
const store = await storeFromUrl(url, { migrate: true });
const live = liveEvents();
// the lease is short, so that the next process goes on soon after this one was killed; a kill is not the fault of the executions
createRuntime({
  ...{ store, workflows: tickingWorkflows, nodeDefinitions: tickingNodes(orders), plugins: [live.plugin] },
  ...{ leaseMs: 2_000, pollMs: 50, maxCrashes: Number.POSITIVE_INFINITY },
  onProblem: (workflowId, error) => console.error(workflowId, error),
});
const tell = (message: FromDriving): void => void process.send?.(message, undefined, {}, () => undefined);
live.listen((message) => tell({ type: "live", message }));
process.on("message", (changed: Partial<Orders>) => Object.assign(orders, changed));
process.once("disconnect", () => process.exit(3));
tell({ type: "ready" });
