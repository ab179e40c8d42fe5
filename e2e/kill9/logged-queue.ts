import type { WorkQueue } from "stepfold/runtime";
import type { LogLine } from "./log.ts";

/**
 * The same queue. What it tells of in the background is written down as its own and not as the runtime's: a lock that was
 * not renewed in time costs a second delivery, and no work.
 */
export function loggedQueue(queue: WorkQueue, write: (line: LogLine) => void): WorkQueue {
  const note = (error: unknown): void => write({ what: "problem", workflowId: null, code: "QUEUE_UNAVAILABLE", message: String(error) });
  return {
    ...queue,
    async consume(handle, options) {
      const ofHandler = new Set<unknown>();
      return queue.consume(
        async (delivery) => {
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
