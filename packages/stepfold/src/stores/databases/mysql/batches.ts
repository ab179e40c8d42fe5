import type { SqlValue } from "./mysql-session.ts";

/** Most rows in one statement. */
const mostRows = 256;

/** Bytes of the values of a row, about. */
function sizeOf(row: readonly SqlValue[]): number {
  return row.reduce((sum: number, value) => sum + (typeof value === "string" ? Buffer.byteLength(value) : 16), 0);
}

/** Cuts rows into parts that fit into one statement each: so many rows, so many bytes. */
export function batchesOf<R extends readonly SqlValue[]>(rows: readonly R[], maxBytes: number): R[][] {
  const batches: R[][] = [];
  let last: R[] = [];
  let size = 0;
  for (const row of rows) {
    const more = sizeOf(row);
    if (last.length > 0 && (last.length === mostRows || size + more > maxBytes)) {
      batches.push(last);
      last = [];
      size = 0;
    }
    last.push(row);
    size += more;
  }
  if (last.length > 0) batches.push(last);
  return batches;
}

/**
 * Rows up to the next power of two. A server keeps every text that was prepared: so there are nine texts of a statement, and
 * not 256.
 *
 * @param filling makes a row that changes nothing from the last one
 */
export function filled<R>(rows: readonly R[], filling: (last: R) => R): R[] {
  const count = 2 ** Math.ceil(Math.log2(rows.length));
  return [...rows, ...Array.from({ length: count - rows.length }, () => filling(rows.at(-1)!))];
}

/** `a, a, a`: one for each. */
export function each(count: number, text: string, between = ", "): string {
  return Array(count).fill(text).join(between);
}

/** Values for `IN (...)`: naming one twice changes nothing. */
export function amongValues<V extends SqlValue>(values: readonly V[]): V[] {
  return filled(values, (last) => last);
}
