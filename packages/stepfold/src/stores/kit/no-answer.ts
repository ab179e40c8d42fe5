import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../environment/await-answer.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";

/** The longest time to wait for an answer of a database. */
export const maxAnswerMs = 10_000;
/** The timers of this process. On edge platforms a timer belongs to the request that set it, so stores for them pass their own. */
const deadlines = new Deadlines(systemEnvironment);

/** The error for a database that did not answer in time. The connection may be dead although the client has reported nothing. */
export class NoAnswer extends StepfoldError<"STORE_UNAVAILABLE"> {
  constructor(store: string) {
    super("STORE_UNAVAILABLE", { store, reason: `the database did not answer within ${maxAnswerMs} ms` });
  }
}

/** Resolves with the answer of the database, or rejects with `NoAnswer` after 10 s. `late` gets an answer that comes later. */
export function answerOrEnd<T>(store: string, work: Promise<T>, late?: (answer: T) => void, by: Deadlines = deadlines): Promise<T> {
  return awaitAnswer(work, { deadlines: by, timeoutMs: maxAnswerMs, missing: () => new NoAnswer(store), late });
}

/** Resolves when `work` is done, or after `timeoutMs` even if it is not done. Rejects if `work` rejects before. */
export function doneOrGivenUp(work: Promise<void>, timeoutMs: number, by: Deadlines = deadlines): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = by.add(timeoutMs, resolve);
    work.finally(() => deadline.cancel()).then(resolve, reject);
  });
}
