import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import type { CountQuery } from "../../ports/execution-list.ts";
import { queryIn } from "../callers/caller.ts";
import { outcomeOf, receiversOf } from "../context/receivers-of.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { commandLocally, type LocalWork } from "../local/local-work.ts";
import { checkWhere } from "./check-where.ts";

/** Selects the executions that get a signal. */
export interface BroadcastOptions {
  /** Only waits with this key get the signal. */
  readonly key: string;
  /**
   * Only these executions get the signal: those of a workflow (`definitionId`) or a tenant, with certain metadata, or that wait at a
   * certain node (`waiting: { nodeId }`). Default: all that wait.
   */
  readonly where?: CountQuery | undefined;
  /** The same key with the same payload is one signal for each execution, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
}

/** The result of a signal to all executions that wait for it. */
export interface BroadcastReport {
  /** Ids of the executions that got the signal. */
  readonly reached: readonly string[];
  /** Executions that wait for the signal but refused it. They were not changed. */
  readonly refused: readonly { readonly workflowId: string; readonly error: { readonly message: string; readonly code: string } }[];
}

/** Sends a signal to all executions that wait for it, one after the other. */
export async function broadcast(
  context: RuntimeContext,
  local: LocalWork,
  name: string,
  payload: unknown,
  options: BroadcastOptions,
): Promise<BroadcastReport> {
  refuseUnknown("runtime.broadcast", options, ["key", "where", "idempotencyKey"]);
  const { key, where = {}, idempotencyKey } = options;
  for (const [option, value] of Object.entries({ name, key }))
    if (typeof value !== "string" || value === "") throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a text" });
  checkWhere("runtime.broadcast", where);
  if (where.waiting?.signal !== undefined || where.waiting?.key !== undefined)
    throw new StepfoldError("OPTION_INVALID", {
      option: "where.waiting",
      reason: "must not contain signal or key: the call itself gives both",
    });
  const [reached, refused]: [string[], BroadcastReport["refused"][number][]] = [[], []];
  for (const workflowId of await receiversOf(context.store, { name, key }, queryIn(context.caller, where), context.setting.limits)) {
    const signal = { type: "signal", name, key, payload, idempotencyKey, onlyWaiting: true } as const;
    const outcome = await outcomeOf(() => commandLocally(context, local, workflowId, signal));
    if (outcome === "reached") reached.push(workflowId);
    else if (outcome !== "gone") refused.push({ workflowId, error: { message: outcome.message, code: outcome.code } });
  }
  return { reached, refused };
}
