import { safeMember } from "../../core/errors/safe-member.ts";

/**
 * Throw it where trying again is pointless: the retry policy does not apply.
 *
 * ```ts
 * if (order.total < 0) throw new FatalError("an order cannot cost less than nothing");
 * ```
 */
export class FatalError extends Error {
  /** Recognises errors of a second copy of this package in the same process. */
  readonly "~fatal" = true;
  override readonly name: string = "FatalError";
}

/** True for a FatalError, of whichever copy of this package. */
export function isFatal(thrown: unknown): boolean {
  return safeMember(thrown, "~fatal") === true;
}
