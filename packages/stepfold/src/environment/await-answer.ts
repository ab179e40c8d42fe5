import type { Deadlines } from "./system-environment.ts";

/** How an answer is waited for. */
export interface AnswerOptions<T> {
  readonly deadlines: Deadlines;
  readonly timeoutMs: number;
  /** What the call rejects with if there is no answer in time. */
  readonly missing: () => Error;
  /** Called with an answer that comes after that. */
  readonly late?: ((value: T) => void) | undefined;
}

/** The answer of a call to another server, or an error if it does not come in time. */
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
