import type { Deadlines } from "./system-environment.ts";

/** The options of `awaitAnswer`. */
export interface AnswerOptions<T> {
  readonly deadlines: Deadlines;
  readonly timeoutMs: number;
  /** Makes the error with which the call rejects if there is no answer in time. */
  readonly missing: () => Error;
  /** Called with an answer that comes too late. */
  readonly late?: ((value: T) => void) | undefined;
}

/** Resolves to the answer of a call to another server, or rejects if the answer does not come in time. */
export function awaitAnswer<T>(work: Promise<T>, { deadlines, timeoutMs, missing, late }: AnswerOptions<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const deadline = deadlines.add(timeoutMs, () => {
      isLate = true;
      reject(missing());
    });
    work.then(
      (value) => {
        if (isLate) return late?.(value);
        deadline.cancel();
        resolve(value);
      },
      (error: unknown) => {
        deadline.cancel();
        reject(error);
      },
    );
  });
}
