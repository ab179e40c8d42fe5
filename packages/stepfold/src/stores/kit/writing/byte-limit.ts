import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { bytesOf } from "./value-limit.ts";

/**
 * Refuses texts that have too many bytes together.
 *
 * @param what they are, for people
 * @throws StepfoldError `LIMIT_EXCEEDED`
 */
export function refuseLong(what: string, limit: string, max: number, texts: readonly string[]): void {
  // no character takes more than three bytes for each of its code units
  if (texts.reduce((sum, { length }) => sum + length * 3, 0) <= max) return;
  const actual = texts.reduce((sum, text) => sum + bytesOf(text), 0);
  if (actual > max) throw new StepfoldError("LIMIT_EXCEEDED", { what, limit, max, actual });
}
