import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../environment/await-answer.ts";
import type { Deadlines } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";

/** Resolves when `work` is done, or after `timeoutMs` if it is not. Rejects if `work` does so before that. */
export async function withTimeout(environment: Environment, timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let cancel = (): void => undefined;
  const timeout = new Promise<void>((resolve) => {
    cancel = environment.after(timeoutMs, resolve);
  });
  await Promise.race([work, timeout]);
  cancel();
}

/** How an answer of a queue is waited for. */
export interface QueueAnswerOptions<T> {
  /** The name of the queue, for the error. */
  readonly queue: string;
  readonly deadlines: Deadlines;
  readonly timeoutMs: number;
  /** What the queue did not do, for the error, such as `send a message`. */
  readonly undone: string;
  /** Called with an answer that comes too late. */
  readonly late?: (value: T) => void;
}

/** Returns the answer of a queue. Rejects with `QUEUE_UNAVAILABLE` if the answer does not come in time. */
export function queueAnswer<T>(work: Promise<T>, { queue, deadlines, timeoutMs, undone, late }: QueueAnswerOptions<T>): Promise<T> {
  const missing = (): Error => new StepfoldError("QUEUE_UNAVAILABLE", { queue, reason: `it did not ${undone} within ${timeoutMs} ms` });
  return awaitAnswer(work, { deadlines, timeoutMs, missing, late });
}
