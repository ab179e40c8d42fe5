import type { EpochMs, Json, JsonSchema } from "./json.ts";

/** Where an execution stands as a whole. The last three are terminal. */
export type Status = "active" | "paused" | "error" | "completed" | "failed" | "cancelled";

/** What every node has produced, by node id, oldest first. */
export type Context = Readonly<Record<string, readonly NodeResult[]>>;

/** What one attempt of a node left behind. */
export interface NodeResult {
  readonly output: Json | null;
  /** When it ended. */
  readonly timestamp: EpochMs;
  /** 1 for the first. */
  readonly attempt: number;
  /** Message of the error it ended with. */
  readonly error?: string;
  readonly pathId: string;
  /** Version of the snapshot that first held it. */
  readonly version: number;
}

/** A failure as data: what was thrown, scrubbed of secrets and cut to size. */
export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  /** Stable code, if the error had one. */
  readonly code?: string;
  /** The node it happened at. */
  readonly nodeId?: string;
}

/** What a suspended path waits for. */
export interface Wait {
  /** `pathId@turn`; never used twice in an execution. */
  readonly id: string;
  /** `external`: a payload from outside. `timer`: only time. */
  readonly kind: "external" | "timer";
  /** What the step told the world when it suspended. */
  readonly payload?: Json;
  /** What a resume payload must look like. */
  readonly schema?: JsonSchema;
  /** When the step runs again by itself. */
  readonly resumeAt?: EpochMs;
  /** When it is too late: the path leaves by the handle `timeout`. */
  readonly timeoutAt?: EpochMs;
}

/** Why a suspended step runs again. */
export interface Resumed {
  readonly by: "payload" | "timer";
  readonly payload?: Json;
  /** What the step had suspended with. */
  readonly suspendPayload?: Json;
}

/** One place where an execution stands. */
export interface ActivePath {
  /** Never changes, never used again: `0`, and `0.1` for the first fork of it. */
  readonly id: string;
  readonly nodeId: string;
  readonly status: "ready" | "retrying" | "suspended";
  /** Rises whenever anything happens to the path; `id@turn` names one task. */
  readonly turn: number;
  /** The turn at which it arrived at its node. */
  readonly visit: number;
  /** Failed attempts of the step as it stands. */
  readonly attempts: number;
  /** Version of the snapshot at which it arrived. */
  readonly since: number;
  readonly forks?: number;
  /** The edge it came by. */
  readonly via?: string;
  readonly waits?: readonly Wait[];
  readonly nextRetryAt?: EpochMs;
  readonly resumed?: Resumed;
  /** The nodes it came through, at most the last 32. */
  readonly stepPath: readonly string[];
}

/** The retry that comes first. */
export interface RetryState {
  readonly nodeId: string;
  /** Attempts made so far. */
  readonly attempts: number;
  readonly nextRetryAt?: EpochMs;
}

/** A snapshot without its context: what a store rewrites with every commit. */
export interface SnapshotHead {
  /** Format of this value. */
  readonly schema: 1;
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly status: Status;
  /** Node of the first open path; of the failure when failed; null when completed. */
  readonly currentNodeId: string | null;
  /** Open paths, in order of creation. */
  readonly activePaths: readonly ActivePath[];
  /** Rises by exactly 1 with every transition: step, pause, retry, resume, failure, cancel. */
  readonly version: number;
  /** Yours, set at the start; searchable. */
  readonly metadata: Readonly<Record<string, Json>>;
  readonly retryState?: RetryState;
  /** Start of the latest attempt. */
  readonly lastStartedAt?: EpochMs;
  /** Time spent in executors, in milliseconds. */
  readonly totalExecutionTime?: number;
  readonly input?: Json;
  readonly output?: Json;
  readonly error?: ErrorInfo;
  /** Attempts made, in all. */
  readonly steps: number;
  /** About how many bytes of JSON the execution holds. */
  readonly sizeBytes: number;
  /** When it was started. */
  readonly createdAt?: EpochMs;
  /** Random; tells two executions of one id apart after a delete. Only where there is a store. */
  readonly incarnation?: string;
}

/** Everything an execution knows, as one frozen JSON value. */
export interface Snapshot extends SnapshotHead {
  readonly context: Context;
}

/** True when no transition can follow. */
export function isTerminal(status: Status): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
