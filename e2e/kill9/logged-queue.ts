import type { WorkQueue } from "stepfold/runtime";
import type { LogLine } from "./log.ts";

/**
 * Returns the queue with a log of what it delivers. Its background errors are logged as errors of the queue, not of the runtime: a lock that was not
 * renewed in time causes a second delivery, but loses no work.
 */
export function loggedQueue(queue: WorkQueue, write: (line: LogLine) => void): WorkQueue {
  const note = (error: unknown): void => write({ what: "problem", workflowId: null, code: "QUEUE_UNAVAILABLE", message: String(error) });
  return {
    ...queue,
    async consume(handle, options) {
      const ofHandler = new Set<unknown>();
      return queue.consume(
        async (delivery) => {
          write({ what: "delivered", workflowId: delivery.workflowId });
          const extend = (): Promise<void> => delivery.extend().catch(note);
          await handle({ ...delivery, extend }).catch((error: unknown) => {
            ofHandler.add(error);
            throw error;
          });
        },
        { ...options, onProblem: (error) => (ofHandler.delete(error) ? options.onProblem(error) : note(error)) },
      );
    },
  };
}
