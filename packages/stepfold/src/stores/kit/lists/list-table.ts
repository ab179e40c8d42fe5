import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SeriesQuery } from "../../../ports/execution-counts.ts";
import type { ExecutionGuard } from "../execution-rows.ts";
import type { CheckedQuery } from "./checked-query.ts";

/** The position of an execution in a list. The next page begins after the last execution of a page. */
export interface ListCursor {
  readonly createdAt: EpochMs;
  readonly seq: number;
}

/** Asks for a part of a list. */
export interface PageQuery extends Omit<CheckedQuery, "metadata" | "tenant" | "waiting" | "cursor"> {
  /** All of these labels must be in the text of labels of a row. */
  readonly labels: readonly string[];
  /** Null: from the beginning. */
  readonly after: ListCursor | null;
}

/** Rows in the order of the list. They may include rows that do not match the query. */
export interface ListedPart {
  readonly rows: readonly ListedRow[];
  /** The position after which the next part begins; null: nothing follows. */
  readonly next: ListCursor | null;
  /** How many rows the database looked at. Default: the number of `rows`. */
  readonly looked?: number;
}

/** For a table that looks at rows one by one: how far it looked. */
interface Looked {
  /** False: there may be more rows. Default true. */
  readonly complete?: boolean;
  /** How many rows were looked at. Absent: the database counted by itself. */
  readonly looked?: number;
}

/** The numbers of rows by status, at most `limit` of the query for each. */
export interface CountedRows extends Looked {
  readonly counts: ReadonlyMap<Status, number>;
}

/** A number of ended rows with the same bucket, status and class of duration. */
export interface EndedCount {
  /** The index of the part of the period. */
  readonly bucket: number;
  readonly status: Status;
  readonly durationClass: number;
  readonly amount: number;
}

/** The numbers of ended rows in a period. */
export interface EndedCounts extends Looked {
  readonly counts: readonly EndedCount[];
}

/** The columns of an execution that a list shows. */
export interface ListedRow extends ExecutionGuard {
  /** JSON. */
  readonly definition: string;
  /** JSON. */
  readonly metadata: string;
  /** JSON; see `headText`. */
  readonly head: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
}

/** Selects ended executions or tombstones to delete. */
export interface EndedQuery {
  /** Only rows whose `endedAt`, or `deletedAt` of tombstones, is before this time. */
  readonly before: EpochMs;
  readonly limit: number;
  /** Conditions for ended executions (`definitionId` null: any). Null: select tombstones. */
  readonly ended: { readonly statuses: readonly Status[]; readonly definitionId: string | null } | null;
}

/** Selects executions that have events of earlier runs. */
export interface EarlierRunsQuery {
  /** Only rows whose `runAt` is before this time. */
  readonly before: EpochMs;
  readonly limit: number;
  /** Null: any. */
  readonly definitionId: string | null;
  /** Only the execution with this id. Null: any. */
  readonly id: string | null;
}

/** An execution that has events of earlier runs. */
export interface LaterRun extends ExecutionGuard {
  readonly checkpointVersion: number | null;
}

/** Finds rows by the values of their columns: for lists, counts and deletions. */
export interface ListTable {
  /** Returns executions after a position in the list, at most `limit`. No tombstones. */
  page(query: PageQuery): Promise<ListedPart>;
  /** Counts rows by status, if the database can do so without returning them. Absent, or null: the kit counts the rows of `page`. */
  count?(query: PageQuery): Promise<CountedRows | null>;
  /** Counts ended rows, if the database can do so without returning whole rows. Absent: the kit counts the rows of `page`. */
  endedCounts?(query: SeriesQuery): Promise<EndedCounts>;
  /** Returns rows that may be deleted, the oldest first. */
  ended(query: EndedQuery): Promise<readonly ExecutionGuard[]>;
  /** Returns executions that have events of earlier runs, by `runAt`, the oldest first. The cost must not depend on all other executions. */
  earlierRuns(query: EarlierRunsQuery): Promise<readonly LaterRun[]>;
}
