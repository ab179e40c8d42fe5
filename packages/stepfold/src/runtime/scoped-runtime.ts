import type { WorkflowDefinition } from "../core/definition/definition.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { Json } from "../core/values/json.ts";
import type { AnyTyped, PayloadTypes } from "../engine/node/typed.ts";
import { countExecutions, findSummaries } from "../ports/list-fallbacks.ts";
import { broadcast } from "./bulk/broadcast.ts";
import { runBulk } from "./bulk/run-bulk.ts";
import { idsIn, queryIn } from "./callers/caller.ts";
import type { MadeExecution } from "./commands/start-execution.ts";
import type { RuntimeContext } from "./context/runtime-context.ts";
import type { Schedules } from "./context/schedules.ts";
import { startForked } from "./delivery/start-forked.ts";
import { describeRuntime } from "./describe.ts";
import { type AdoptOptions, planAdoption } from "./forks/fork.ts";
import type { Run } from "./handle/run.ts";
import { runHandle } from "./handle/run-handle.ts";
import { type StartRunOptions, startRun } from "./handle/start-run.ts";
import type { LocalWork } from "./local/local-work.ts";
import type { ScopedRuntime } from "./runtime.ts";

/** The most ids that a store looks up in one call. */
const maxIds = 200;

/**
 * Makes the calls of a runtime that start, read and move executions, for one caller.
 *
 * @param requireOpen throws once the runtime is closed
 */
export function scopedRuntime(
  context: RuntimeContext,
  local: LocalWork,
  schedules: Schedules,
  requireOpen: (action: string) => void,
): ScopedRuntime {
  const { store, caller } = context;
  const handleOf = <Out = Json, Waits = PayloadTypes, Signals = PayloadTypes>(made: MadeExecution): Run<Out, Waits, Signals> =>
    runHandle(context, local, made, requireOpen);
  const run = (workflowId: string): Run => handleOf({ workflowId, isNew: false });
  return {
    async start<Out, Waits, Signals>(workflow: string | WorkflowDefinition | AnyTyped, options: StartRunOptions = {}) {
      requireOpen("start");
      return handleOf<Out, Waits, Signals>(await startRun(context, local, workflow, options));
    },
    async adopt(workflow: string | WorkflowDefinition, snapshot: unknown, options: AdoptOptions = {}) {
      requireOpen("adopt");
      return handleOf(await startForked(context, local, planAdoption(context, workflow, snapshot, options)));
    },
    async get<Out, Waits, Signals>(workflowId: string, workflow?: AnyTyped) {
      return handleOf<Out, Waits, Signals>({ workflowId: await existingId(context, workflowId, workflow), isNew: false });
    },
    bulk: (action, options = {}) => runBulk({ store, caller, now: () => context.clock.now(), requireOpen, run }, action, options),
    async broadcast(name, payload, options) {
      requireOpen("broadcast");
      return broadcast(context, local, name, payload, options);
    },
    list: async (query) => store.list(query && queryIn(caller, query)),
    count: async (query, atMost) => countExecutions(store, query && queryIn(caller, query), atMost),
    async summaries(workflowIds) {
      // the store refuses what is no list, and too many
      if (caller.tenant === undefined || !Array.isArray(workflowIds) || workflowIds.length > maxIds)
        return findSummaries(store, workflowIds);
      const ids = [...new Set(workflowIds.flatMap((id) => idsIn(caller, id)))];
      const parts = Array.from({ length: Math.ceil(ids.length / maxIds) }, (_, part) => ids.slice(part * maxIds, (part + 1) * maxIds));
      return (await Promise.all(parts.map((part) => findSummaries(store, part)))).flat();
    },
    describe: () => describeRuntime(context),
    schedules,
  };
}

/** Returns the id of the execution that a call names. @throws StepfoldError `WORKFLOW_NOT_FOUND`; `OPTION_INVALID` if it has another workflow */
async function existingId({ store, caller }: RuntimeContext, workflowId: string, workflow: AnyTyped | undefined): Promise<string> {
  for (const id of idsIn(caller, workflowId)) {
    const head = await store.loadHead(id);
    if (head && workflow) requireWorkflow(workflowId, head.definition.id, workflow);
    if (head) return id;
  }
  throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
}

function requireWorkflow(workflowId: string, actual: string, { id }: AnyTyped): void {
  if (actual === id) return;
  throw new StepfoldError("OPTION_INVALID", {
    option: "workflow",
    reason: `is "${id}", and "${workflowId}" is an execution of "${actual}"`,
  });
}
