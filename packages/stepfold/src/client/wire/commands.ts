import type { Duration } from "../../core/values/duration.ts";
import type { EpochMs } from "../../core/values/json.ts";

/** Starts an execution. */
export interface StartBody {
  /** The id of a workflow of the server's runtime. */
  readonly workflow: string;
  /** The id of the execution. A second start with the same id and input is the same execution. Default: a new id. */
  readonly id?: string | undefined;
  readonly input?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** When the first node is performed: ISO 8601 with an offset, or milliseconds since 1970. Default: at once. */
  readonly startAt?: string | EpochMs | undefined;
  /** The task queue of the execution. Default: that of the workflow. */
  readonly taskQueue?: string | undefined;
  /** How long the execution may take. */
  readonly timeout?: Duration | undefined;
}

/** What a start has made or found. */
export interface StartReply {
  readonly workflowId: string;
  /** True: this call has made the execution. False: it had been made before. */
  readonly isNew: boolean;
}

/** Which wait is answered, and how. Without a place it is the only open wait. */
export interface AnswerBody {
  readonly waitId?: string | undefined;
  /** Instead of `waitId`: the node, or its address. */
  readonly step?: string | undefined;
  /** With `step`: the item of a map. */
  readonly item?: number | undefined;
  readonly payload?: unknown;
  /** The same key with the same payload is one answer, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
}

/** Sends a signal. */
export interface SignalBody {
  readonly name: string;
  readonly payload?: unknown;
  /** Only waits with the same key take the signal. */
  readonly key?: string | undefined;
  /** How long the signal is kept for a wait that is not open yet. Default 30 days. */
  readonly ttl?: Duration | undefined;
  /** The same key with the same payload is one signal, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
}

/** Whether an answer or a signal was applied. */
export interface Applied {
  /** False: the same idempotency key with the same payload was applied before. */
  readonly applied: boolean;
}

/** What to cancel. Without a place: the whole execution. */
export interface CancelBody {
  readonly step?: string | undefined;
  readonly item?: number | undefined;
  readonly reason?: string | undefined;
}

/** Which pending retry to make at once. Without `step`: the earliest, or the parked execution. */
export interface RetryBody {
  readonly step?: string | undefined;
}

/** How an execution that failed or was cancelled goes on. */
export interface RestartBody {
  /** Needed if steps were undone: whether they are performed again, or count as if they had not been undone. */
  readonly compensated?: "again" | "keep" | undefined;
  /** The idempotency keys of the steps that failed: those that they had (the default), or new ones. */
  readonly keys?: "same" | "new" | undefined;
  readonly timeout?: Duration | undefined;
  /** The same key is one restart, however often it is sent. */
  readonly idempotencyKey?: string | undefined;
}

/** What a restart has done. */
export interface RestartReply {
  readonly workflowId: string;
  readonly applied: boolean;
  /** Why it was applied or not: see `RestartOutcome`. */
  readonly reason: "restarted" | "repeated" | "open" | "completed";
}
