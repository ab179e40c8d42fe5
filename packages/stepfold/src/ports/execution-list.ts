import type { ErrorInfo } from "../core/errors/error-info.ts";
import type { AskedWait } from "../core/reading/asked-waits.ts";
import type { StateSummary, WaitSummary } from "../core/reading/summary-of-head.ts";
import type { RunNumbers } from "../core/snapshot/parts/lineage.ts";
import type { Status } from "../core/snapshot/snapshot.ts";
import type { ListedWait } from "../core/transition/draft/listed-waits.ts";
import type { EpochMs, Json } from "../core/values/json.ts";
import type { MetadataFilter, WaitFilter } from "./list-filters.ts";

/** Selects executions for a list. All given conditions must hold. */
export interface ListQuery {
  readonly status?: readonly Status[] | undefined;
  /** Id of the workflow definition. */
  readonly definitionId?: string | undefined;
  /** Only executions whose metadata has each of these top-level keys, equal to the value or between bounds (`{ amount: { gte: 100 } }`). */
  readonly metadata?: Readonly<Record<string, MetadataFilter>> | undefined;
  /**
   * Only executions that have such an open wait, also in a sub-workflow or an item of a map; `{}`: any wait. Lists know only the first 100
   * waits of an execution, or fewer if they have more than 8,000 characters of JSON; a wait that several people may answer counts once for
   * each of them.
   */
  readonly waiting?: WaitFilter | undefined;
  /** Only executions of this tenant. */
  readonly tenant?: string | undefined;
  /** Only executions that were created before this time, by the store's clock. Exclusive, as `createdAfter`. */
  readonly createdBefore?: EpochMs | undefined;
  readonly createdAfter?: EpochMs | undefined;
  /** Only executions whose id begins with this text. `idPrefix` and the order `oldest` need `features.lists`. */
  readonly idPrefix?: string | undefined;
  /** The order by time of creation: the newest executions first (the default), or the oldest. */
  readonly order?: "newest" | "oldest" | undefined;
  /** 1 to 1,000; default 50. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Selects executions to count. */
export type CountQuery = Omit<ListQuery, "order" | "limit" | "cursor">;

/** An execution in a list. */
export interface ExecutionSummary extends RunNumbers, StateSummary {
  readonly workflowId: string;
  /** A random text that distinguishes the execution from a deleted one with the same id. */
  readonly incarnation: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly status: Status;
  /** The node of its first open path, or the node at which it failed. Null: there is none, for example when it is completed. */
  readonly currentNodeId: string | null;
  readonly version: number;
  readonly metadata: Readonly<Record<string, Json>>;
  /** Absent: the execution has no tenant. */
  readonly tenant?: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  /**
   * When the execution must be driven again: 0 for now, null for never. If it waits for its first claim because of a rate: when this claim
   * will probably be allowed.
   */
  readonly wakeAt: EpochMs | null;
  /**
   * The present claim. If `until` has passed, another process may take the execution over. `crashes`: about how many holders before this
   * one began and then were lost. Null: not claimed, or ended.
   */
  readonly lease: { readonly owner: string; readonly until: EpochMs; readonly crashes: number } | null;
  /** A summary of the waits of its own paths; waits of its children do not count. Null: there is none. */
  readonly waiting: WaitSummary | null;
  /** The open waits by which lists find the execution (`ListQuery.waiting`), including those of its children. Absent: none. */
  readonly waits?: readonly ListedWait[];
  /**
   * The open waits of its own paths that somebody can answer, with what is asked: enough for an inbox. Only in a list with `waiting`. The first
   * 20, also those that do not match `waiting`; those of sub-workflows and items of maps are not included: `run.waits()` has them.
   */
  readonly asked?: readonly AskedWait[];
  /** The error with which the execution failed or will fail. Null: none. */
  readonly error: Pick<ErrorInfo, "name" | "message" | "code" | "nodeId"> | null;
  /** The number of all attempts so far. */
  readonly steps: number;
  /** The time by which the execution must end. Absent: no deadline. */
  readonly deadlineAt?: EpochMs;
  /** The approximate size of its snapshot in bytes of JSON. */
  readonly sizeBytes: number;
}

/**
 * A part of a list. The last page has no cursor (null). Executions that are created or deleted between two pages neither repeat nor hide
 * others. A page with a cursor may have fewer items than the limit: the store looks at a bounded number of executions in one call, and the
 * next page continues from there.
 */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}
