import type { ListedExecution } from "stepfold/client";

/** The status of an execution, as the engine calls it. */
export type ExecutionStatus = ListedExecution["status"];

/** What is shown: the status of an execution, or of a node in it. An execution with the status `error` is tried again: `retrying`. */
export type ShownStatus = "not-yet" | "not-reached" | "active" | "paused" | "retrying" | "parked" | "completed" | "failed" | "cancelled";

/** All statuses of executions, in the order in which they are offered. */
export const executionStatuses: readonly ExecutionStatus[] = ["active", "paused", "error", "parked", "completed", "failed", "cancelled"];

/** Returns what is shown for the status of an execution. */
export function shownStatus(status: ExecutionStatus): ShownStatus {
  return status === "error" ? "retrying" : status;
}

/** Returns the word of a status, as people read it. */
export function statusWord(status: ShownStatus): string {
  return status.replace("-", " ");
}
