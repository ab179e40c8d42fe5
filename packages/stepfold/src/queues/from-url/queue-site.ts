import type { WorkQueue } from "../../ports/work-queue.ts";

/** A queue, and the end of the client that was opened for it. */
export interface QueueSite {
  readonly queue: WorkQueue;
  /** After `queue.close()`. */
  closeClient(): Promise<unknown>;
}
