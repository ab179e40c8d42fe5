import type { EpochMs, Json } from "./json.ts";
import type { ErrorInfo, Wait } from "./snapshot.ts";

interface Stamp {
  /** The version this event makes. */
  readonly version: number;
  readonly at: EpochMs;
  /** Bytes of JSON that it adds to the execution. */
  readonly sizeBytes?: number;
}

interface Step {
  readonly pathId: string;
  readonly turn: number;
  readonly nodeId: string;
  readonly attempt: number;
  readonly startedAt: EpochMs;
}

/** The execution begins. Always version 0. */
export interface StartedEvent extends Stamp {
  readonly type: "started";
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  /** Random; only where there is a store, which tells two executions of one id apart by it. */
  readonly incarnation?: string;
  readonly nodeId: string;
  readonly input?: Json;
  readonly metadata: Readonly<Record<string, Json>>;
  /** For the first node, as if it were resumed with it. */
  readonly payload?: Json;
}

/** A step ended well. */
export interface CompletedEvent extends Stamp, Step {
  readonly type: "completed";
  readonly output: Json;
  /** Handles it leaves by. Absent: the default one. */
  readonly handles?: readonly string[];
}

/** An attempt failed. `retryAt` says whether and when there is another. */
export interface FailedEvent extends Stamp, Step {
  readonly type: "failed";
  readonly error: ErrorInfo;
  readonly retryAt: EpochMs | null;
  /** The edge that takes the failure. Absent when there is none, or when a limit of the execution was passed: the execution fails. */
  readonly handle?: "error";
}

/** A step waits. */
export interface SuspendedEvent extends Stamp, Step {
  readonly type: "suspended";
  readonly waits: readonly Wait[];
}

/** A wait was answered, or its time came. */
export interface ResumedEvent extends Stamp {
  readonly type: "resumed";
  readonly pathId: string;
  readonly waitId: string;
  readonly by: "payload" | "timer";
  readonly payload?: Json;
  /** Who answered, as told. */
  readonly who?: string;
  /** The caller's key for this answer. */
  readonly idempotencyKey?: string;
}

/** A wait was not answered in time. */
export interface TimedOutEvent extends Stamp {
  readonly type: "timedOut";
  readonly pathId: string;
  readonly nodeId: string;
  readonly attempt: number;
  readonly waitId: string;
  readonly error: ErrorInfo;
  /** The edge that takes it. Absent when there is none: the execution fails. */
  readonly handle?: "timeout" | "error";
}

/** A pending retry is to be made at once. */
export interface RetriedEvent extends Stamp {
  readonly type: "retried";
  readonly pathId: string;
}

/** The execution was cancelled. */
export interface CancelledEvent extends Stamp {
  readonly type: "cancelled";
  readonly reason?: string;
}

/** What happened, as data: exactly one per version. Folding the events of an execution gives its snapshot. */
export type Event =
  | StartedEvent
  | CompletedEvent
  | FailedEvent
  | SuspendedEvent
  | ResumedEvent
  | TimedOutEvent
  | RetriedEvent
  | CancelledEvent;
