import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../environment/await-answer.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";

/** The longest that a database is waited for. */
const maxAnswerMs = 10_000;
const deadlines = new Deadlines(systemEnvironment);

/** A database that did not answer in time: its connection may be dead, and nobody has said so. */
export class NoAnswer extends StepfoldError<"STORE_UNAVAILABLE"> {
  constructor(store: string) {
    super("STORE_UNAVAILABLE", { store, reason: `there was no answer for ${maxAnswerMs} ms` });
  }
}

/** What the database answers, or `NoAnswer` after 10 s. An answer that comes later is told to `late`. */
export function answerOrEnd<T>(store: string, work: Promise<T>, late?: (answer: T) => void): Promise<T> {
  return awaitAnswer(work, { deadlines, timeoutMs: maxAnswerMs, missing: () => new NoAnswer(store), late });
}

/** Resolves when `work` is done, or after `timeoutMs` without its end. */
export function doneOrGivenUp(work: Promise<void>, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = deadlines.add(timeoutMs, resolve);
    work.finally(cancel).then(resolve, reject);
  });
}
