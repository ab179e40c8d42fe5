import type { WorkQueue } from "../../ports/work-queue.ts";

/** A queue, and the function that closes the client which was opened for it. */
export interface QueueAndClient {
  readonly queue: WorkQueue;
  /** Closes the client. Called after `queue.close()`. */
  closeClient(): Promise<unknown>;
}
