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
}

/** A process that runs executions of a store. */
export interface LiveWorker extends Omit<WorkerBeat, "aliveMs"> {
  /** The time until which the process counts as alive, by the store's clock. */
  readonly aliveUntil: EpochMs;
}
