import { safeMember } from "../../core/errors/safe-member.ts";

/**
 * An error to throw if another attempt is pointless: the retry policy does not apply to it.
 *
 * ```ts
 * if (order.total < 0) throw new FatalError("an order cannot cost less than nothing", { details: { total: order.total } });
 * ```
 *
 * The execution keeps `details` with the error if they are JSON of at most 32 KB: as `$json.details` behind the edge `error`, and in the
 * `error` of the snapshot.
 */
export class FatalError extends Error {
  /** By this mark, a second copy of this package in the same process recognises the error. */
  readonly "~fatal" = true;
  override readonly name: string = "FatalError";
  readonly details: unknown;

  constructor(message?: string, options?: ErrorOptions & { readonly details?: unknown }) {
    super(message, options);
    this.details = options?.details;
  }
}

/** True for a FatalError, also of another copy of this package. */
export function isFatal(thrown: unknown): boolean {
  return safeMember(thrown, "~fatal") === true;
}
