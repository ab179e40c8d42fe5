import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { RootCancel, RootStart, ScheduledBy } from "../../core/snapshot/parts/message.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { sha256 } from "../../core/values/hash/sha256.ts";
import type { Json } from "../../core/values/json.ts";
import type { StartResult } from "../commands/start-execution.ts";
import { toSchedule } from "../context/schedule-host.ts";
import { requireHead } from "../context/store/require-snapshot.ts";
import { wakeExecution } from "../local/local-work.ts";
import { isRefused, type OutboxDelivery, statusToReport, unlessGone } from "./report-end.ts";

/**
 * Starts the execution of a tick or a trigger of a schedule. It is started only once, because its id is made from the tick or the trigger.
 *
 * @returns the error that refuses the start, for example because another execution has the id or the input is invalid; null if the
 *   execution was started, now or before
 */
export async function startRoot(
  delivery: OutboxDelivery,
  { id, to: workflowId, workflow, input, metadata, scheduledBy }: RootStart & { readonly id: string; readonly to: string },
): Promise<StepfoldError | null> {
  const { context, local, from } = delivery;
  // the same for each delivery of this message, so it is known whether an execution that is there was begun by this message
  const incarnation = sha256(JSON.stringify([from.workflowId, from.incarnation, id])).slice(0, 32);
  let started: StartResult;
  try {
    const options = { workflowId, input, metadata, tenant: from.tenant };
    started = await delivery.start({ prepared: context.registry.current(workflow), options, scheduledBy, incarnation });
  } catch (error) {
    if (isRefused(error)) return error;
    throw error;
  }
  if (started.committed) return null;
  const there = await context.store.loadHead(workflowId);
  if (there?.scheduledBy?.schedule !== scheduledBy.schedule || there.tenant !== from.tenant)
    return new StepfoldError("START_CONFLICT", { workflowId, differs: "schedule" });
  await wakeExecution(context, local, started.wakeUp);
  // it has ended already, or it was started without `reports`, so it will not tell the schedule
  const isSilent = isTerminal(there.status) || !there.scheduledBy.reports;
  const about = { workflowId, at: scheduledBy.at };
  if (there.incarnation !== incarnation) await reportToSchedule(delivery, scheduledBy, { type: "found", ...about, ended: isSilent }, id);
  else if (scheduledBy.reports && isSilent) await reportToSchedule(delivery, scheduledBy, { type: "ended", ...about }, id);
  return null;
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
  readonly type: "ended" | "found" | "refused" | "reopened";
  readonly workflowId: string;
  /** The tick of the execution. */
  readonly at: number;
  /** The `status` of an end, the `error` of a refusal; whether an execution that was `found`, as it had been started before, has `ended`. */
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
  return unlessGone(() => delivery.command(workflowId, toSchedule(report, idempotencyKey), { ofSchedules: true }));
}
