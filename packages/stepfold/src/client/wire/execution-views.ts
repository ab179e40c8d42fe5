import type { ErrorInfo } from "../../core/errors/error-info.ts";
import type { Explanation } from "../../core/explain/explain.ts";
import type { StepInput } from "../../core/explain/step-input.ts";
import type { WaitInfo } from "../../core/explain/waits.ts";
import type { Event } from "../../core/snapshot/event.ts";
import type { Origin, ParentLink, RunNumbers } from "../../core/snapshot/parts/lineage.ts";
import type { Parked, Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs, Json } from "../../core/values/json.ts";
import type { ExecutionSummary } from "../../ports/execution-list.ts";

/**
 * Stands in place of a value that the caller may not see, for which the scope `values` is needed, or that is too large for this view: only
 * its size is told, in bytes of JSON.
 */
export interface CutValue {
  readonly "~cut": number;
}

/** The failure of an execution. Without the scope `values` the message is empty, because it may quote data. */
export type RowError = Pick<ErrorInfo, "name" | "message" | "code" | "nodeId">;

/** An execution in a list. Messages are empty without the scope `values`. */
export type ListedExecution = ExecutionSummary;

/** Selects executions. All given conditions must hold. Times are ISO 8601 or milliseconds since 1970. */
export interface ExecutionFilter {
  /** One status or several. */
  readonly status?: Status | readonly Status[] | undefined;
  /** The id of a workflow. */
  readonly workflow?: string | undefined;
  /** Executions whose id begins with this text. */
  readonly idPrefix?: string | undefined;
  /** Metadata: each of these keys has this value. Text that is JSON is taken as JSON: `7`, `true`; all other text as it is. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly createdAfter?: string | EpochMs | undefined;
  readonly createdBefore?: string | EpochMs | undefined;
  /** What is waited for; `any` for whatever it is. */
  readonly waiting?: "any" | "external" | "signal" | "timer" | "child" | "incident" | undefined;
  /** The node that waits. */
  readonly waitingNode?: string | undefined;
  /** The name of the signal that is waited for. */
  readonly signal?: string | undefined;
  /** A person who may answer. */
  readonly responder?: string | undefined;
}

/** Selects executions, also by what the server has to look for itself, among at most 20,000 in one call. */
export interface ExecutionQuery extends ExecutionFilter {
  /** Text in the id, the workflow, the node, the metadata or the error. */
  readonly q?: string | undefined;
  /** The node at which it stands or failed. */
  readonly node?: string | undefined;
  /** The code of its error. */
  readonly error?: string | undefined;
}

/** Selects a page of a list. */
export interface ExecutionListQuery extends ExecutionQuery {
  readonly order?: "newest" | "oldest" | undefined;
  /** 1 to 200; default 50. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** A page of a list of executions. */
export interface ExecutionPage {
  readonly items: readonly ListedExecution[];
  /** Null: this is the last page. */
  readonly nextCursor: string | null;
  /**
   * How many executions a residual filter (`q`, `node`, `error`) has looked at for this page, at most 20,000. Null: there is none, so the
   * store has found the page itself.
   */
  readonly looked: number | null;
  /** False: a residual filter has looked at as many executions as it may, and there are more: `nextCursor` goes on. */
  readonly complete: boolean;
  /** The time of the store's clock. */
  readonly storeNow: EpochMs;
}

/** The state of one execution. */
export interface ExecutionView extends RunNumbers {
  readonly workflowId: string;
  readonly incarnation: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly status: Status;
  readonly version: number;
  readonly createdAt: EpochMs | null;
  readonly tenant?: string;
  readonly metadata: Readonly<Record<string, Json>>;
  /** The execution that this one goes on from. */
  readonly from?: Origin;
  /** The execution that has started this one. */
  readonly parent?: ParentLink;
  /** The number of all attempts so far. */
  readonly steps: number;
  /** The approximate size of the snapshot in bytes of JSON. */
  readonly sizeBytes: number;
  readonly deadlineAt?: EpochMs;
  readonly parked?: Parked;
  /** The failure. Null: none. */
  readonly error: ErrorInfo | null;
  /** The output, if it has completed and has one. */
  readonly output?: Json | CutValue;
  /** What it does or waits for, who can move it, until when, and what happens then. */
  readonly explanation: Explanation;
  /** The first 100 open waits. Without the scope `answer` or `values` their payloads are cut. */
  readonly waits: readonly WaitInfo[];
  /** The number of all open waits. */
  readonly waitCount: number;
  /** The process that holds it, and until when. Null: none does. */
  readonly lease: ExecutionSummary["lease"];
  /** The time of the store's clock. */
  readonly storeNow: EpochMs;
}

/** Which part of a history to read. */
export interface HistoryQuery {
  /** The events after this version; -1 is before the first one. Default: from the beginning. */
  readonly after?: number | undefined;
  /** Instead of `after`: the last events before this version. */
  readonly before?: number | undefined;
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined;
  /** `full`: with all values, for which the scope `values` is needed. `brief`, the default without this scope: values are cut. */
  readonly view?: "brief" | "full" | undefined;
  /** Only events at this node. The page may have fewer events than the limit. */
  readonly node?: string | undefined;
  /** Only events of this type. */
  readonly type?: Event["type"] | undefined;
}

/** A part of a history. */
export interface HistoryPage {
  /** The oldest event first. */
  readonly items: readonly Event[];
  /** The `after`, or the `before`, with which the next page begins; null: there is no other event in this direction now. */
  readonly next: number | null;
  /** The version of the execution. */
  readonly last: number;
}

/** One attempt of a step, with what it has read. */
export interface StepView {
  readonly event: Event;
  /** What the step read. Globals are shown as `***`. Null: the event is not that of a step. */
  readonly input: StepInput | null;
}

/** A part of the open waits. */
export interface WaitPage {
  readonly items: readonly WaitInfo[];
  /** The `after` with which the next page begins: the id of the last wait. Null: there are no more. */
  readonly next: string | null;
  /** The number of all open waits. */
  readonly count: number;
}
