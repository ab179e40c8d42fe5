import { sha256 } from "../../../core/values/sha256.ts";
import type { Rate } from "../../../core/values/shared-keys.ts";
import type { ExecutionGuard } from "../execution-table.ts";

/** Holds the row of an execution that waits for its first claim, because its workflow has a rate limit: see `rates.ts`. */
export const rateOwner = "(rate limit)";

/** Whether an execution waits for its first claim, in the line of its rate. No process holds it. */
export function waitsForRate({ owner }: Pick<ExecutionGuard, "owner">): boolean {
  return owner === rateOwner;
}

// keys of permits with one quotation mark are digests, which have no colon
const rateKeyStart = '"rate:';

/** The key of a rate's line: of its record, and of the rows of executions that have no concurrency key. No key of a permit looks like it. */
export function rateKeyOf({ key }: Pick<Rate, "key">): string {
  return `${rateKeyStart}${sha256(key)}`;
}

/** Whether a key of rows is that of a line. */
export function isRateKey(key: string): boolean {
  return key.startsWith(rateKeyStart) && key.length === rateKeyStart.length + 64;
}
