import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { canonicalJson } from "../../core/values/canonical-json.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";
import { type AnyTyped, isTyped } from "../../engine/node/typed.ts";
import { readingInput } from "../../engine/workflow/reading.ts";
import { requireTime, type StartOptions } from "../../engine/workflow/start-event.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { byIn, idIn, tenantIn } from "../callers/caller.ts";
import type { MadeExecution } from "../commands/start-execution.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { requireSnapshot } from "../context/store/require-snapshot.ts";
import { type LocalWork, startLocally, wakeExecution } from "../local/local-work.ts";

/** How an execution is started with a runtime. */
export interface StartRunOptions extends Omit<StartOptions, "externalPayload"> {
  /**
   * When the first node is performed: ISO 8601 with an offset, or milliseconds since 1970. Until then the execution is `paused`; it can be
   * cancelled, and takes signals. It runs the definition that the workflow has at the time of the call. Default, and if the time has passed:
   * at once.
   */
  readonly startAt?: string | EpochMs | undefined;
  /**
   * The task queue of the execution, such as `"gpu"`: only processes that take it (`taskQueues` of `createRuntime`) run the execution. 1 to 128
   * letters, digits, `_` and `-`. Needs a store with `features.taskQueues`. Default: `taskQueue` of the workflow, else `"default"`.
   */
  readonly taskQueue?: string | undefined;
}

/**
 * How an execution of a typed workflow is started: its input may be left out only if the workflow takes null, or if nobody knows its types.
 */
export type StartTypedOptions<In> = null extends In
  ? StartRunOptions
  : [In] extends [never]
    ? StartRunOptions
    : Omit<StartRunOptions, "input"> & { readonly input: In };

const startOptions: readonly (keyof StartRunOptions)[] = [
  ...(["initialNodeId", "workflowId", "input", "metadata", "tenant", "by", "startAt", "timeout", "deadline", "taskQueue"] as const),
];

/**
 * Starts an execution, or finds the one that was started before with the same id and input.
 *
 * @throws StepfoldError `START_CONFLICT` if the id was started with another workflow, input or tenant, with another definition if one is
 * handed over, or by another execution
 */
export async function startRun(
  context: RuntimeContext,
  local: LocalWork,
  asked: string | WorkflowDefinition | AnyTyped,
  given: StartRunOptions,
): Promise<MadeExecution> {
  const workflow = isTyped(asked) ? asked.id : asked;
  refuseUnknown("runtime.start", given, startOptions);
  const { startAt: givenStartAt, ...others } = given;
  const options = optionsIn(context, others);
  const startAt = givenStartAt === undefined ? undefined : requireTime("startAt", givenStartAt);
  const { registry, store } = context;
  const prepared = typeof workflow === "string" ? registry.current(workflow) : registry.prepare(workflow);
  const unnamed = typeof workflow !== "string";
  if (isTyped(asked)) await checkInputOf(asked, options.input, context.setting.limits);
  const { event, committed, wakeUp } = await startLocally(context, local, { prepared, options, startAt, unnamed });
  if (!committed) {
    const existing = await asStarted(store, await requireSnapshot(store, event.workflowId));
    requireSameStart(existing, event);
    // a named workflow may have got another version since the first start; a definition that was handed over must be the same
    if (typeof workflow !== "string" && existing.definition.hash !== event.definition.hash) {
      throw new StepfoldError("START_CONFLICT", { workflowId: event.workflowId, differs: "definition" });
    }
    await wakeExecution(context, local, wakeUp);
  }
  return { workflowId: event.workflowId, isNew: committed };
}

/**
 * Checks the input of a typed workflow by its schema, as JSON, which is what its code will read. So what a JSON Schema cannot express is refused here
 * too.
 *
 * @throws StepfoldError `INPUT_INVALID`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
async function checkInputOf({ id, "~input": schema }: AnyTyped, input: unknown, limits: Limits): Promise<void> {
  if (schema !== undefined) await readingInput(id, schema)(normalise(input ?? null, "The input", limits).value);
}

/** Returns the options of a start for a caller. @throws StepfoldError `OPTION_INVALID` if they name another tenant or person */
function optionsIn<O extends Pick<StartRunOptions, "workflowId" | "tenant" | "by">>({ caller, environment }: RuntimeContext, asked: O): O {
  const { workflowId = environment.newId(), tenant, by } = asked;
  return { ...asked, workflowId: idIn(caller, workflowId), tenant: tenantIn(caller, tenant), by: byIn(caller, by) };
}

/** Returns an execution with the input and definition of its start, which stay in its first event: later runs and restarts have others. */
async function asStarted(store: SnapshotStore, existing: Snapshot): Promise<Snapshot> {
  if (!existing.run && !existing.restarts) return existing;
  const [first] = await store.events(existing.workflowId, -1, 1);
  if (first?.event.type !== "started") throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId: existing.workflowId });
  const { definition, input } = first.event;
  const { input: _, ...others } = existing;
  return { ...others, definition, ...(input !== undefined && { input }) };
}

function requireSameStart(existing: Snapshot, { workflowId, definition, input, tenant }: StartedEvent): void {
  if (existing.tenant !== tenant) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "tenant" });
  // an execution with this id that another execution has begun is not the one that the caller means
  if (existing.parent) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "parent" });
  if (existing.definition.id !== definition.id) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "definition" });
  if (!isSame(existing.input, input)) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "input" });
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
}
