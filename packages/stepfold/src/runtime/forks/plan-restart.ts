import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { fitted } from "../../core/restart/fitted.ts";
import { type Reopened, reopenEarlier, reopenRun } from "../../core/restart/reopen-run.ts";
import { aheadOf, passedMs, type RestartTerms, restartState } from "../../core/restart/restart-state.ts";
import { firstVersion, type RunHistory } from "../../core/restart/run-history.ts";
import type { Event, RestartedEvent } from "../../core/snapshot/event.ts";
import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import { type EpochMs, type Json, sizeOfJson } from "../../core/values/json.ts";
import type { Asked } from "../../engine/commands/asked.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import { timesOf } from "../../engine/workflow/start-event.ts";
import { byIn, type Caller } from "../callers/caller.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { adoptedChildren } from "./adopted-children.ts";
import { type ForkPlan, nameOf, nodesOf, performedAfter, type TimeOptions, wantedDefinition } from "./fork.ts";
import { loadHistory, refused } from "./load-history.ts";

/** How a restarted execution goes on. */
export interface RestartOptions extends TimeOptions, Asked {
  /**
   * Required if steps were undone. `again`: the execution goes on before the first of these steps, so they are performed again, under new
   * idempotency keys. `keep`: it goes on where it failed, and these steps count as if they had not been undone.
   */
  readonly compensated?: "again" | "keep" | undefined;
  /** The definition to go on with: the id of a workflow of the runtime, or a definition. Default: the definition of the execution. */
  readonly definition?: string | WorkflowDefinition | undefined;
  /**
   * The idempotency keys of the steps that failed. `same`, the default: the keys that they had, by which a service recognises an effect
   * that had happened. `new`: for services that keep a failure under a key and answer with it again.
   */
  readonly keys?: "same" | "new" | undefined;
  /** The same key is one restart, also if the execution has failed again. A key is known for at least 7 days (`limits.idempotencyKeyMs`). */
  readonly idempotencyKey?: string | undefined;
}

const restartOptions = ["compensated", "definition", "keys", "idempotencyKey", "by", "timeout", "deadline"] as const;

/** @throws StepfoldError `OPTION_UNKNOWN`, `OPTION_INVALID` */
export function checkRestartOptions(options: RestartOptions, caller: Caller): void {
  refuseUnknown("run.restart", options, restartOptions);
  const { compensated, keys, idempotencyKey } = options;
  if (compensated !== undefined && compensated !== "again" && compensated !== "keep") throw invalid("compensated", "must be again or keep");
  if (keys !== undefined && keys !== "same" && keys !== "new") throw invalid("keys", "must be same or new");
  if (idempotencyKey !== undefined && (typeof idempotencyKey !== "string" || idempotencyKey === ""))
    throw invalid("idempotencyKey", "must be text that is not empty");
  if (options.by !== undefined) byIn(caller, checkedName("by", options.by));
}

/** An execution that is about to go on where it failed. */
export interface Restarting {
  readonly plan: ForkPlan;
  readonly prepared: PreparedWorkflow;
  /** The version of the execution that was read. */
  readonly version: number;
  /** Returns the event that restarts the execution at this time of the store's clock. */
  eventAt(now: EpochMs): RestartedEvent;
}

/**
 * Plans a restart.
 *
 * @throws StepfoldError `FORK_REFUSED`, `RESTART_COMPENSATED`, `DEFINITION_CHANGED`, `WORKFLOW_NOT_FOUND`, ...
 */
export async function planRestart(context: RuntimeContext, workflowId: string, options: RestartOptions): Promise<Restarting> {
  checkRestartOptions(options, context.caller);
  const by = byIn(context.caller, options.by);
  const history = await loadHistory(context, workflowId, "restart");
  const { head, events } = history;
  const { status, definition } = head;
  if (status === "completed") throw refused(head, null, "it has completed; fork it at the node from which it should go on");
  if (status !== "failed" && status !== "cancelled") throw refused(head, null, `it is ${status}, and has not ended`);
  const undone = undoneSince(events);
  if (undone.length > 0 && options.compensated === undefined)
    throw new StepfoldError("RESTART_COMPENSATED", { workflowId, nodes: undone.map(({ nodeId }) => nodeId) });
  const isAgain = options.compensated === "again" && undone.length > 0;
  const reopened = isAgain ? beforeUndone(history, undone) : reopenRun(history, options.keys === "new");
  if (!reopened) throw refused(head, null, "it has not ended; fork it, or cancel it first");
  const prepared = await wantedDefinition(context, history, options.definition);
  const { compiled } = prepared;
  const snapshot = compiled.hash === definition.hash ? reopened.snapshot : fitted(reopened.snapshot, compiled);
  const { adopts, plans } = await adoptedChildren(context, head, snapshot, options.compensated);
  const version = head.version + 1;
  const ahead = isAgain ? aheadOf(version, snapshot.version) : 0;
  const terms = { version, adopts, ahead, laterMs: 0 } satisfies RestartTerms;
  const timesAt = (now: EpochMs): Pick<RestartedEvent, "deadlineAt" | "givenTime"> => {
    const about = { workflowId, input: snapshot.input, metadata: head.metadata, at: now };
    const { isKept, ...time } = timeAt(head, options, now);
    const times = timesOf(prepared, about, time, context.setting.limits);
    return isKept ? { ...times, givenTime: head.givenTime! } : times;
  };
  return {
    prepared,
    version: head.version,
    plan: {
      workflowId,
      from: { workflowId, version: snapshot.version },
      definition: nameOf(compiled),
      nodes: nodesOf(snapshot),
      performsAgain: isAgain ? performedAfter(events, snapshot.version) : [],
      children: plans,
    },
    eventAt(now) {
      const state = restartState(snapshot, { ...terms, laterMs: passedMs(reopened.leftAt, now) });
      return {
        type: "restarted",
        version,
        at: now,
        definition: nameOf(compiled),
        state,
        ...timesAt(now),
        ...(undone.length > 0 && { dropsCompensations: true as const }),
        ...(isAgain && { since: snapshot.version }),
        ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
        ...(by !== undefined && { who: by }),
        sizeBytes: sizeOfJson(state as unknown as Json),
      };
    },
  };
}

/** A deadline that was given for the whole life stays, until it has passed: then its time begins anew. */
function timeAt({ givenTime }: SnapshotHead, { timeout, deadline }: TimeOptions, now: EpochMs): TimeOptions & { readonly isKept?: true } {
  if (timeout !== undefined || deadline !== undefined) return { timeout, deadline };
  if (!givenTime) return {};
  const { deadlineAt, timeoutMs } = givenTime;
  return deadlineAt > now ? { deadline: deadlineAt, isKept: true } : { timeout: timeoutMs };
}

/** Returns the execution as it was before the first of the steps that were undone. */
function beforeUndone(history: RunHistory, undone: readonly { readonly version: number }[]): Reopened {
  const version = Math.max(firstVersion(history), Math.min(...undone.map((step) => step.version)) - 1);
  return reopenEarlier(history, version);
}

/** Returns the steps that were undone since the last restart, each with the version of its result. */
function undoneSince(events: readonly Event[]): { readonly nodeId: string; readonly version: number }[] {
  const undone: { readonly nodeId: string; readonly version: number }[] = [];
  for (const event of events) {
    if (event.type === "restarted" && event.dropsCompensations) undone.length = 0;
    if (event.type === "completed" && event.undoes?.version !== undefined)
      undone.push({ nodeId: event.nodeId, version: event.undoes.version });
  }
  return undone;
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
