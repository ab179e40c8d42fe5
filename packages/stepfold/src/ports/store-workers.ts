import type { EpochMs } from "../core/values/json.ts";

/** A sign of life of a process that runs executions of a store. */
export interface WorkerBeat {
  /** The name of the process: the `owner` of its claims. */
  readonly owner: string;
  /** When the process started. */
  readonly since: EpochMs;
  /** How long the process counts as alive without another sign, in milliseconds: at most one day. 0: the process has ended. */
  readonly aliveMs: number;
  /** The most executions that the process runs at the same time. */
  readonly slots: number;
  /** The node types whose code the process has, at most 1,000: a process with more reports only the first ones. */
  readonly types: readonly string[];
  /** The task queues whose executions it runs. Absent: those of all. */
  readonly taskQueues?: readonly string[];
  /** The definitions that it has found and cannot run, at most 100, the first ones. Absent: none. */
  readonly lacks?: readonly LackedDefinition[];
}

/** A definition that a process cannot run, and why. */
export interface LackedDefinition {
  readonly hash: string;
  readonly workflow: string;
  /** The code of the reason: `DEFINITION_INVALID` (no code, or code that does not take its data), `DEFINITION_MISSING`, `DEFINITION_CHANGED`. */
  readonly code: string;
  readonly message: string;
  /** When the process found it out, by the store's clock. */
  readonly since: EpochMs;
}

/** A process that runs executions of a store. */
export interface LiveWorker extends Omit<WorkerBeat, "aliveMs"> {
  /** The time until which the process counts as alive, by the store's clock. */
  readonly aliveUntil: EpochMs;
}
