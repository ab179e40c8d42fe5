import type { EpochMs } from "../core/values/json.ts";

/** Which ended executions to delete. */
export interface PruneOptions {
  /** Only executions that ended before this time. */
  readonly before: EpochMs;
  /** Only executions of this workflow definition. Default: of all. */
  readonly definitionId?: string | undefined;
  /** Default: all terminal statuses. */
  readonly statuses?: readonly ("completed" | "failed" | "cancelled")[] | undefined;
  /** The most executions to delete in one call; default 1,000. */
  readonly limit?: number | undefined;
  /** True: delete nothing, and only report what would be deleted. */
  readonly dryRun?: boolean | undefined;
}

/** An execution that was deleted, or would be deleted by a dry run. */
export interface DeletedExecution {
  readonly workflowId: string;
  readonly incarnation: string;
}

/** What a prune deleted, or what a dry run would delete. */
export interface PruneReport {
  readonly executions: number;
  readonly events: number;
  /** The deleted executions in the order in which they ended. `executions` and `events` are counts. */
  readonly deleted: readonly DeletedExecution[];
}

/** Of which executions to delete the events of earlier runs. */
export interface TrimOptions {
  /** Only executions whose present run began before this time, so that their earlier runs ended before it. */
  readonly before: EpochMs;
  /** Only executions that were started with this workflow definition. Default: of all. */
  readonly definitionId?: string | undefined;
  /** Only this execution. */
  readonly workflowId?: string | undefined;
  /** The most executions to trim in one call; default 1,000. */
  readonly limit?: number | undefined;
  /** True: delete nothing, and only report what would be deleted. */
  readonly dryRun?: boolean | undefined;
}

/** What a trim deleted, or what a dry run would delete. */
export interface TrimReport {
  readonly executions: number;
  readonly events: number;
  /** The trimmed executions, in the order in which their present runs began. `executions` and `events` are counts. */
  readonly trimmed: readonly DeletedExecution[];
  /**
   * Executions that are not trimmed, because no checkpoint was stored since their present run began: it was larger than a value may be
   * (`maxValueBytes`). Their earlier runs are trimmed once a later checkpoint is stored.
   */
  readonly left: readonly DeletedExecution[];
}
