import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { bytesOf } from "./value-limit.ts";

/**
 * Refuses texts whose total size in UTF-8 is larger than `max` bytes.
 *
 * @param what the name of the texts, for the error
 * @param limit the name of the limit, for the error
 * @throws StepfoldError `LIMIT_EXCEEDED`
 */
export function refuseLong(what: string, limit: string, max: number, texts: readonly string[]): void {
  // fast path: UTF-8 needs at most three bytes for each UTF-16 code unit
  if (texts.reduce((sum, { length }) => sum + length * 3, 0) <= max) return;
  const actual = texts.reduce((sum, text) => sum + bytesOf(text), 0);
  if (actual > max) throw new StepfoldError("LIMIT_EXCEEDED", { what, limit, max, actual });
}
