import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { RootCancel, RootStart, ScheduledBy } from "../../core/snapshot/message.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import type { Json } from "../../core/values/json.ts";
import { isRefusedStart } from "../commands/is-refused-start.ts";
import { requireHead } from "../context/require-snapshot.ts";
import { scheduleSignal } from "../context/schedule-host.ts";
import { wakeExecution } from "./local-work.ts";
import { type OutboxDelivery, statusToReport, unlessGone } from "./report-end.ts";

/** Codes of starts that are refused here: this worker has no such workflow, or the id belongs to a deleted execution. */
const refusals: readonly string[] = ["DEFINITION_UNKNOWN", "WORKFLOW_EXISTS"];

/**
 * Starts the execution of a tick of a schedule. It is started only once, because its id is made from the tick.
 *
 * @returns the error that refuses the start, for example because another execution has the id or the input is invalid; null if the
 *   execution was started, now or before
 */
export async function startRoot(
  delivery: OutboxDelivery,
  { id, to: workflowId, workflow, input, metadata, scheduledBy }: RootStart & { readonly id: string; readonly to: string },
): Promise<StepfoldError | null> {
  const { context, local, from } = delivery;
  const options = { workflowId, input, metadata, tenant: from.tenant };
  try {
    const { committed, wakeUp } = await delivery.start({
      prepared: context.registry.current(workflow),
      options,
      scheduledBy,
    });
    if (committed) return null;
    const there = await context.store.loadHead(workflowId);
    if (there?.scheduledBy?.schedule !== scheduledBy.schedule || there.scheduledBy.at !== scheduledBy.at)
      return new StepfoldError("START_CONFLICT", { workflowId, differs: "schedule" });
    await wakeExecution(context, local, wakeUp);
    // the execution was started before: it has ended already, or it was started without `reports`, so it will not tell the schedule
    const isSilent = isTerminal(there.status) || !there.scheduledBy.reports;
    if (scheduledBy.reports && isSilent)
      await reportToSchedule(delivery, scheduledBy, { type: "ended", workflowId, at: scheduledBy.at }, id);
    return null;
  } catch (error) {
    if (StepfoldError.is(error) && (isRefusedStart(error) || refusals.includes(error.code))) return error;
    throw error;
  }
}

/** Cancels an execution that a schedule has started. An execution of another origin with this id is left alone. */
export async function cancelRoot(
  { context, command }: OutboxDelivery,
  { to, schedule }: RootCancel & { readonly to: string },
): Promise<void> {
  await unlessGone(async () => {
    const first = await requireHead(context.store, to);
    if (first.scheduledBy?.schedule !== schedule) return;
    await command(to, { type: "cancel", reason: `schedule ${schedule} starts its next execution` });
  });
}

/** What a schedule is told about an execution that it started, or wanted to start. */
export interface ScheduleReport {
  readonly type: "ended" | "refused" | "reopened";
  readonly workflowId: string;
  /** The tick of the execution. */
  readonly at: number;
  /** The `status` of an end, or the `error` of a refusal. */
  readonly [detail: string]: Json;
}

/** Returns the report that an execution has ended. */
export function endReport(from: Draft): ScheduleReport {
  return { type: "ended", workflowId: from.workflowId, at: from.scheduledBy!.at, status: statusToReport(from) };
}

/** Returns the report that an execution was restarted. */
export function reopenedReport(from: Draft): ScheduleReport {
  return { type: "reopened", workflowId: from.workflowId, at: from.scheduledBy!.at };
}

/** Returns the report that an execution cannot be started. */
export function refusalReport({ to, scheduledBy }: RootStart & { readonly to: string }, { code, message }: StepfoldError): ScheduleReport {
  return { type: "refused", workflowId: to, at: scheduledBy.at, error: { code, message } };
}

/** Ten years: the signal must not expire before the schedule takes it. */
const ttlMs = 10 * 365 * 24 * 60 * 60 * 1000;

/**
 * Tells a schedule by a signal what happened to an execution that it started. A schedule that has ended or was deleted is not told.
 *
 * @returns whether the schedule was told
 */
export async function reportToSchedule(
  delivery: OutboxDelivery,
  { workflowId }: ScheduledBy,
  report: ScheduleReport,
  messageId: string,
): Promise<boolean> {
  const idempotencyKey = `${report.type} ${report.workflowId} ${delivery.from.incarnation} ${messageId}`;
  const signal = { type: "signal", name: scheduleSignal, payload: report, idempotencyKey, ttl: ttlMs } as const;
  return unlessGone(() => delivery.command(workflowId, signal));
}
