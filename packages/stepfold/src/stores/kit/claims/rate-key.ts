import { sha256 } from "../../../core/values/hash/sha256.ts";
import type { Rate } from "../../../core/values/shared-keys.ts";

/** The owner of the row of an execution that waits for its first claim because of a rate limit. No process: see `rates.ts`. */
export const rateOwner = "(rate limit)";

/** Returns true if an execution waits for its first claim in the line of its rate. No process holds it. */
export function waitsForRate({ owner }: { readonly owner: string | null }): boolean {
  return owner === rateOwner;
}

// no permit has such a key: a permit key with exactly one quotation mark is a digest (see `indexedOfTenant`), which has no colon
const rateKeyStart = '"rate:';

/** The key of a rate's line: the key of its record, and the permit key of waiting executions that have no concurrency key. */
export function rateKeyOf({ key }: Pick<Rate, "key">): string {
  return `${rateKeyStart}${sha256(key)}`;
}

/** Returns true if the permit key of a row is the key of a rate's line. */
export function isRateKey(key: string): boolean {
  return key.startsWith(rateKeyStart) && key.length === rateKeyStart.length + 64;
}
