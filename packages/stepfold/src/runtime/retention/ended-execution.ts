import type { ExecutionSummary } from "../../ports/execution-list.ts";
import type { AppendedRow } from "../../ports/snapshot-store.ts";

/** An execution that has ended and is about to be deleted, with its history; or one of which earlier runs are. */
export interface EndedExecution extends ExecutionSummary {
  /** Every event that is stored, oldest first. With `beforeRun`: the first one, which stays, and those that are about to be deleted. */
  readonly events: readonly AppendedRow[];
  /** The execution stays, and only the events of the runs before the one with this number are deleted. */
  readonly beforeRun?: number;
}
