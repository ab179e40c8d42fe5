import type { DueKey, DueKeys } from "../execution-table.ts";

/** Rows with a permit that are looked at, longest due first: where fewer are due, none of their keys is missing among them. */
export const windowRows = 64;

/** Rows that one scan of the index of keys gives, at most. */
export const scannedRows = 500;

/** How a table finds keys. */
export interface KeySearch {
  /** Keys of the longest due executions with a permit, at most `windowRows` of them, the longest due first. `rows`: how many of them one stands for, else 1. */
  longestDue(): Promise<readonly (DueKey & { readonly rows?: number })[]>;
  /**
   * The next keys in the order of the index, at most `scannedRows`. Where a key stands more than once, its longest due execution
   * comes first; limit 0: it is not due.
   */
  scan(): Promise<readonly DueKey[]>;
}

/**
 * The keys for which something is due, after one of them. Where few executions are due, their keys are looked up by time; where
 * many wait, the keys are scanned. So neither many that wait for one key nor many that sleep are looked at one by one.
 */
export async function findDueKeys(search: KeySearch, after: string, limit: number): Promise<DueKeys> {
  const longestDue = await search.longestDue();
  const seen = longestDue.reduce((sum, { rows = 1 }) => sum + rows, 0);
  if (seen >= windowRows) return firstDueKeys(await search.scan(), scannedRows, limit);
  const first = new Map(longestDue.toReversed().map((one) => [one.key, one]));
  const keys = [...first.values()].filter(({ key }) => key > after).sort((a, b) => (a.key < b.key ? -1 : 1));
  return firstDueKeys(keys, windowRows, limit);
}

/** The keys that are due among the rows of a scan, and where the next scan begins. @param maxRows how many rows it may have given */
export function firstDueKeys(rows: readonly DueKey[], maxRows: number, limit: number): DueKeys {
  const keys = rows.filter(({ key, limit: most }, index) => most > 0 && key !== rows[index - 1]?.key);
  if (keys.length > limit) return { keys: keys.slice(0, limit), next: keys[limit - 1]!.key };
  return { keys, next: rows.length < maxRows ? null : rows.at(-1)!.key };
}
