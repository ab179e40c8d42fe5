import type { DueKey, DueKeys } from "../execution-table.ts";

/** How many of the longest due rows with a permit are read first. If fewer rows are due, these rows contain all due keys. */
export const windowRows = 64;

/** The most rows that one scan of the index of keys returns. */
export const scannedRows = 500;

/** The two searches for keys that a table provides. */
export interface KeySearch {
  /**
   * Reads the keys of the `windowRows` longest due executions with a permit, the longest due first. `rows` is the number of executions for
   * which an entry stands; default 1.
   */
  longestDue(): Promise<readonly (DueKey & { readonly rows?: number })[]>;
  /**
   * Reads the next keys in the order of the index, at most `scannedRows`. If a key has several rows, its longest due execution comes first.
   * A limit of 0 means that the row is not due.
   */
  scan(): Promise<readonly DueKey[]>;
}

/**
 * Finds the keys after `after` for which an execution is due. If few executions are due, their keys are looked up by time; if many are due,
 * the index of keys is scanned. So the search reads neither all executions that wait for one key nor all that are not due.
 */
export async function findDueKeys(search: KeySearch, after: string, limit: number): Promise<DueKeys> {
  const longestDue = await search.longestDue();
  const seen = longestDue.reduce((sum, { rows = 1 }) => sum + rows, 0);
  if (seen >= windowRows) return firstDueKeys(await search.scan(), scannedRows, limit);
  const first = new Map(longestDue.toReversed().map((one) => [one.key, one]));
  const keys = [...first.values()].filter(({ key }) => key > after).sort((a, b) => (a.key < b.key ? -1 : 1));
  return firstDueKeys(keys, windowRows, limit);
}

/** Returns the due keys among the rows of a scan, and where the next scan begins. @param maxRows the most rows that the scan may return */
export function firstDueKeys(rows: readonly DueKey[], maxRows: number, limit: number): DueKeys {
  const keys = rows.filter(({ key, limit: most }, index) => most > 0 && key !== rows[index - 1]?.key);
  if (keys.length > limit) return { keys: keys.slice(0, limit), next: keys[limit - 1]!.key };
  return { keys, next: rows.length < maxRows ? null : rows.at(-1)!.key };
}
