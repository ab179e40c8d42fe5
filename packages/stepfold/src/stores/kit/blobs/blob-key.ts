import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** The most characters of a key; all of them are ASCII. */
export const maxKeyBytes = 900;

/**
 * Splits the key of a blob, or the name of a folder of keys, into its segments.
 *
 * @throws StepfoldError `OPTION_INVALID` if the text is not such a key
 */
export function segmentsOf(key: string): string[] {
  const segments = key.split("/");
  const areAllowed = segments.length <= 10 && segments.every((segment) => /^[\w~%-][\w.~%-]{0,254}$/.test(segment));
  if (key.length <= maxKeyBytes && areAllowed) return segments;
  throw new StepfoldError("OPTION_INVALID", { option: "key", reason: "is not a valid key of a blob" });
}
