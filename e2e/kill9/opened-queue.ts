import type { WorkQueue } from "stepfold/runtime";

/** A queue with the clients that are its own. */
export interface OpenedQueue {
  readonly queue: WorkQueue;
  close(): Promise<void>;
}
