import { type ErrorInfo, errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ChildEnd, Message } from "../../core/snapshot/parts/message.ts";
import { sha256 } from "../../core/values/hash/sha256.ts";
import type { ExecutionSummary } from "../../ports/execution-list.ts";
import { outcomeOf, receiversOf } from "../context/receivers-of.ts";
import { requireHead } from "../context/store/require-snapshot.ts";
import { type OutboxDelivery, reportEnd } from "./report-end.ts";

/**
 * Codes of errors after which a delivery is not repeated: the step is told that its signal was not delivered. The retry policy of its node
 * may send the signal again later. After any other error the message stays in the outbox.
 */
const refusals: readonly string[] = [
  ...["WORKFLOW_NOT_FOUND", "EXECUTION_ENDED", "SCHEDULE_DENIED", "RESUME_INVALID", "RESUME_CONFLICT", "CODE_NEEDED", "DEFINITION_CHANGED"],
  ...["LIMIT_EXCEEDED", "OPTION_INVALID", "VALUE_NOT_JSON"],
];

/**
 * Sends the signal of a step to one execution, and tells the step that the signal has arrived, or why it was not delivered. After a crash
 * the signal is sent again under the same idempotency key, so it counts once.
 */
export async function signalExecution(delivery: OutboxDelivery, message: Message & { readonly type: "signal" }): Promise<void> {
  const { to, waitId } = message;
  const { workflowId, incarnation } = delivery.from;
  const error = await send(delivery, message);
  const end = error ? { status: "failed" as const, error } : { status: "completed" as const };
  // a step waits for the delivery of its signal as for the end of a child, so the same command answers the wait
  await reportEnd(delivery, workflowId, { type: "endChild", workflowId: to, waitId, incarnation, end });
}

/** Sends a signal to an execution. Returns null if the signal has arrived, or the error if its code is in `refusals`. */
async function send(
  { context, from, command }: OutboxDelivery,
  { to, name, key, payload, ttlMs: ttl, waitId }: Message & { readonly type: "signal" },
): Promise<ErrorInfo | null> {
  // the same for every delivery of this message; the incarnation tells apart executions that had this id one after the other
  const idempotencyKey = sha256(JSON.stringify([from.workflowId, from.incarnation, waitId]));
  try {
    const { tenant } = await requireHead(context.store, to);
    // steps cannot signal executions of other tenants
    if (tenant !== from.tenant) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId: to });
    await command(to, { type: "signal", name, key, payload, ttl, idempotencyKey });
    return null;
  } catch (error) {
    if (!StepfoldError.is(error) || !refusals.includes(error.code)) throw error;
    return errorInfo(error, undefined, context.secrets.scrub);
  }
}

/**
 * Sends the signal of a step to all executions of its tenant that wait for it, and tells the step how many have received it. After a crash
 * the signal is sent again under the same idempotency key, so it counts once for each receiver.
 */
export async function broadcastSignal(delivery: OutboxDelivery, message: Message & { readonly type: "broadcast" }): Promise<void> {
  const { workflowId, incarnation } = delivery.from;
  const end = await sendToAll(delivery, message);
  await reportEnd(delivery, workflowId, { type: "endChild", workflowId, waitId: message.waitId, incarnation, end });
}

async function sendToAll(delivery: OutboxDelivery, message: Message & { readonly type: "broadcast" }): Promise<ChildEnd> {
  const { context, from, isHeld, command } = delivery;
  const { name, key, payload, workflow, waitId } = message;
  const idempotencyKey = sha256(JSON.stringify([from.workflowId, from.incarnation, waitId]));
  let [reached, refused] = [0, 0];
  try {
    const where = { ...(from.tenant !== undefined && { tenant: from.tenant }), ...(workflow !== undefined && { definitionId: workflow }) };
    // without a tenant, the list has the executions of all tenants
    const isMeant = ({ tenant }: ExecutionSummary): boolean => tenant === from.tenant;
    const ids = await receiversOf(context.store, message, where, context.setting.limits, isMeant);
    for (const id of ids) {
      if (!isHeld()) throw new StepfoldError("FENCE_LOST", { workflowId: from.workflowId });
      const signal = { type: "signal", name, key, payload, onlyWaiting: true, idempotencyKey } as const;
      const outcome = await outcomeOf(() => command(id, signal));
      if (outcome === "reached") reached++;
      // an execution that no longer waits (`gone`) counts neither as reached nor as refused
      else if (outcome !== "gone") refused++;
    }
  } catch (error) {
    // there are too many receivers, or the store refuses the search: the step fails, and the delivery is not repeated
    if (!StepfoldError.is(error, "LIMIT_EXCEEDED") && !StepfoldError.is(error, "OPTION_INVALID")) throw error;
    return { status: "failed", error: errorInfo(error, undefined, context.secrets.scrub) };
  }
  return { status: "completed", output: { reached, refused } };
}
