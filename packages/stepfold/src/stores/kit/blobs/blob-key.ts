import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** The most characters of a key; all of them are ASCII. */
export const maxKeyBytes = 900;

/**
 * The segments of the key of a blob, or of a folder of such keys.
 *
 * @throws StepfoldError `OPTION_INVALID` if it is none
 */
export function segmentsOf(key: string): string[] {
  const segments = key.split("/");
  const areAllowed = segments.length <= 10 && segments.every((segment) => /^[\w~%-][\w.~%-]{0,254}$/.test(segment));
  if (key.length <= maxKeyBytes && areAllowed) return segments;
  throw new StepfoldError("OPTION_INVALID", { option: "key", reason: "is no key of a blob" });
}
