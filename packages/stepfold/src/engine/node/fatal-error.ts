import { safeMember } from "../../core/errors/safe-member.ts";

/**
 * Throw it where trying again is pointless: the retry policy does not apply.
 *
 * ```ts
 * if (order.total < 0) throw new FatalError("an order cannot cost less than nothing", { details: { total: order.total } });
 * ```
 *
 * `details` are kept with the error, where they are JSON of at most 32 KB: `$json.details` behind the edge `error`, and in the
 * snapshot's `error`.
 */
export class FatalError extends Error {
  /** Recognises errors of a second copy of this package in the same process. */
  readonly "~fatal" = true;
  override readonly name: string = "FatalError";
  readonly details: unknown;

  constructor(message?: string, options?: ErrorOptions & { readonly details?: unknown }) {
    super(message, options);
    this.details = options?.details;
  }
}

/** True for a FatalError, of whichever copy of this package. */
export function isFatal(thrown: unknown): boolean {
  return safeMember(thrown, "~fatal") === true;
}
