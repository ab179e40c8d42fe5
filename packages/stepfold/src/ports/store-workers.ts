import type { EpochMs } from "../core/values/json.ts";

/** A sign of life of a process that runs executions of a store. */
export interface WorkerBeat {
  /** Its name: the `owner` of its claims. */
  readonly owner: string;
  /** Since when it runs. */
  readonly since: EpochMs;
  /** How long it counts as alive without another sign, in milliseconds, by the store's clock. 0: it has ended. */
  readonly aliveMs: number;
  /** Executions that it runs at once. */
  readonly slots: number;
  /** Node types whose code it has; of more than 1,000 the first ones. */
  readonly types: readonly string[];
}

/** A process that runs executions of a store. */
export interface LiveWorker extends Omit<WorkerBeat, "aliveMs"> {
  /** Until then it counts as alive, by the store's clock. */
  readonly aliveUntil: EpochMs;
}
