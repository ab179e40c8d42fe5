import type { DueKey, DueKeys } from "../execution-table.ts";

/** Rows with a permit that are looked at, longest due first: where fewer are due, none of their keys is missing among them. */
export const windowRows = 200;

/** Keys that one walk through the index of keys looks at. */
export const scannedKeys = 500;

/** How a table finds keys. Where a key stands more than once, its longest due execution comes first. */
export interface KeySearch {
  /** Keys of the longest due executions with a permit, at most `windowRows`. */
  longestDue(): Promise<readonly DueKey[]>;
  /** The next keys in the order of the index, at most `scannedKeys`; limit 0: nothing of it is due. */
  scan(): Promise<readonly DueKey[]>;
}

/**
 * The keys for which something is due, after one of them. Where few executions are due, their keys are looked up by time; where
 * many wait, the walk goes from key to key. So neither many that wait for one key nor many that sleep are looked at one by one.
 */
export async function findDueKeys(search: KeySearch, after: string, limit: number): Promise<DueKeys> {
  const longestDue = await search.longestDue();
  if (longestDue.length < windowRows) {
    const first = new Map(longestDue.toReversed().map((one) => [one.key, one]));
    const keys = [...first.values()].filter(({ key }) => key > after).sort((a, b) => (a.key < b.key ? -1 : 1));
    return { keys: keys.slice(0, limit), next: keys.length > limit ? keys[limit - 1]!.key : null };
  }
  const scanned = await search.scan();
  const keys = scanned.filter((one) => one.limit > 0);
  if (keys.length > limit) return { keys: keys.slice(0, limit), next: keys[limit - 1]!.key };
  return { keys, next: scanned.length < scannedKeys ? null : scanned.at(-1)!.key };
}
