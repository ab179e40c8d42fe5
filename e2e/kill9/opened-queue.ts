import type { WorkQueue } from "stepfold/runtime";

/** A queue and the clients that belong to it. */
export interface OpenedQueue {
  readonly queue: WorkQueue;
  close(): Promise<void>;
}
