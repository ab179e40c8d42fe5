import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/**
 * Returns what `call` gives, which works on a stored execution and calls no code of the user. A row that somebody has changed may hold anything: an
 * error of the platform, such as a TypeError, then means that the row is damaged.
 *
 * @throws StepfoldError `SNAPSHOT_INVALID` if the row is damaged, with the error as its cause; and whatever else `call` throws
 */
export async function onSoundRow<T>(workflowId: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause;
    const reason = `has no form that can be read: the stored data of execution "${workflowId}" is damaged`;
    throw new StepfoldError("SNAPSHOT_INVALID", { pointer: "", reason }, { cause });
  }
}
