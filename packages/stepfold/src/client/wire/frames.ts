import type { Event } from "../../core/snapshot/event.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { CutValue, ExecutionFilter, ExecutionView, ListedExecution } from "./execution-views.ts";

/** One event of the history. Each is told once and in order; after a reconnection the stream goes on behind the last one. */
export interface EventFrame {
  readonly type: "event";
  /** The id of the execution, as in the request. */
  readonly execution: string;
  readonly event: Event;
}

/** The state after the events so far; at most four times a second. */
export interface HeadFrame {
  readonly type: "head";
  readonly execution: string;
  readonly view: ExecutionView;
}

/** What a step tells of its progress while it runs (`heartbeat`), or that it has begun. It is not stored, and not told twice. */
export interface ProgressFrame {
  readonly type: "progress";
  readonly execution: string;
  readonly nodeId: string;
  /** The id of the path, with the key of the child that it is in. */
  readonly pathId: string;
  readonly attempt: number;
  /** What the step has told; cut without the scope `values`. Absent: the attempt has begun. */
  readonly progress?: Json | CutValue;
  readonly at: EpochMs;
}

/** Changes of a list. */
export interface ListFrame {
  readonly type: "list";
  /** Rows that are new or have changed, also those that no longer match the query. */
  readonly upsert: readonly ListedExecution[];
  /** Ids of executions that no longer exist. */
  readonly gone: readonly string[];
  readonly storeNow: EpochMs;
}

/** Everything that was told of this execution is void, and it is told again from its first event. */
export interface ResetFrame {
  readonly type: "reset";
  readonly execution: string;
  /** `replaced`: the execution was deleted, and another one has its id. `trimmed`: events that were to come next were deleted. */
  readonly reason: "replaced" | "trimmed";
}

/** There is nothing more to tell of this execution. */
export interface EndFrame {
  readonly type: "end";
  readonly execution: string;
  /** `gone`: it does not exist, or no longer. */
  readonly reason: "gone";
}

/** The server cannot tell anything at the moment; it goes on by itself. */
export interface ProblemFrame {
  readonly type: "problem";
  /** The code of the error, such as `STORE_UNAVAILABLE`. */
  readonly code: string;
  /** The execution that it is about. Absent: all that the stream tells. */
  readonly execution?: string;
}

/** What a server tells in a stream. */
export type ServerFrame = EventFrame | HeadFrame | ProgressFrame | ListFrame | ResetFrame | EndFrame | ProblemFrame;

/** The state of the connection, told by the client itself. */
export interface LinkFrame {
  readonly type: "link";
  readonly isLive: boolean;
  /** When the next try begins, in milliseconds from now. Only while there is no connection. */
  readonly againInMs?: number;
  /** Why there is no connection: the code of an error, or `CONNECTION_LOST`. */
  readonly code?: string;
}

/** What a client yields. */
export type StreamFrame = ServerFrame | LinkFrame;

/** What a stream tells of: executions, a list, or both. */
export interface StreamQuery {
  /** Ids of executions, at most 20. */
  readonly executions?: readonly string[] | undefined;
  readonly list?: ExecutionFilter | undefined;
  /** `brief`: events without their values. Default: `full` with the scope `values`, for executions of at most 4 MiB. */
  readonly view?: "brief" | "full" | undefined;
}
