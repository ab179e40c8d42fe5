import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { MysqlValue } from "./mysql-session.ts";

/** The tables and views, and their names without the prefix. */
const names = {
  executions: "executions",
  events: "events",
  children: "children",
  records: "records",
  blobs: "blobs",
  layout: "layout",
  results: "execution_results",
  contexts: "execution_contexts",
  view: "workflow_executions",
};

/** Names of the tables and views, quoted. */
export type Tables = Readonly<Record<keyof typeof names, string>>;

/**
 * Returns the names of the tables with a prefix.
 *
 * @throws StepfoldError `OPTION_INVALID` unless it consists of at most 44 letters, digits and underscores
 */
export function tablesOf(prefix: string): Tables {
  // a whole name may have 64 characters
  if (typeof prefix !== "string" || !/^[A-Za-z0-9_]{0,44}$/.test(prefix)) {
    throw new StepfoldError("OPTION_INVALID", { option: "prefix", reason: "must be letters, digits and underscores, at most 44" });
  }
  return Object.fromEntries(Object.entries(names).map(([key, name]) => [key, `\`${prefix}${name}\``])) as Tables;
}

/**
 * SQL for the server's time in epoch milliseconds, at the beginning of the statement. It depends neither on the session's time
 * zone nor on daylight saving time.
 */
export const clock = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000)";

/** The most bytes in a column for a name: 255 characters, each of at most 4 bytes. */
export const maxNameBytes = 1020;

/** The most rows in one statement. */
const maxRows = 256;

/** Returns about how many bytes the values of a row have. */
function sizeOf(row: readonly MysqlValue[]): number {
  return row.reduce((sum: number, value) => sum + (typeof value === "string" ? Buffer.byteLength(value) : 16), 0);
}

/** Splits rows into batches for one statement each: at most `maxRows` rows and about `maxBytes` bytes, or a single larger row. */
export function batchesOf<R extends readonly MysqlValue[]>(rows: readonly R[], maxBytes: number): R[][] {
  const batches: R[][] = [];
  let last: R[] = [];
  let size = 0;
  for (const row of rows) {
    const more = sizeOf(row);
    if (last.length > 0 && (last.length === maxRows || size + more > maxBytes)) {
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
 * Adds rows until their number is a power of two. A server keeps every prepared text, so each statement has only nine texts and not
 * 256.
 *
 * @param padding makes, from the last row, a row that changes nothing
 */
export function paddedList<R>(rows: readonly R[], padding: (last: R) => R): R[] {
  const count = 2 ** Math.ceil(Math.log2(rows.length));
  return [...rows, ...Array.from({ length: count - rows.length }, () => padding(rows.at(-1)!))];
}

/** Repeats a text `count` times: `a, a, a`. */
export function repeated(count: number, text: string, between = ", "): string {
  return Array(count).fill(text).join(between);
}

/** Returns the text and the values of an `IN` condition. Its list is filled up with the last value, which changes nothing. */
export function inList<V extends MysqlValue>(values: readonly V[]): { readonly text: string; readonly values: readonly V[] } {
  const all = paddedList(values, (last) => last);
  return { text: `IN (${repeated(all.length, "?")})`, values: all };
}

/**
 * Refuses a name that is too long for its column, because a server that is not in strict mode would cut the name off.
 *
 * @throws StepfoldError `LIMIT_EXCEEDED`
 */
export function refuseLongName(what: string, name: string | null | undefined): void {
  const actual = Buffer.byteLength(name ?? "");
  if (actual <= maxNameBytes) return;
  throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "mysql name in bytes", max: maxNameBytes, actual });
}
