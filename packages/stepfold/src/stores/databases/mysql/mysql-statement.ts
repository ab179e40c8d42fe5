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
 * The tables of a prefix.
 *
 * @throws StepfoldError `OPTION_INVALID` unless it consists of at most 44 letters, digits and underscores
 */
export function tablesOf(prefix: string): Tables {
  // a name may have 64 characters
  if (typeof prefix !== "string" || !/^[A-Za-z0-9_]{0,44}$/.test(prefix)) {
    throw new StepfoldError("OPTION_INVALID", { option: "prefix", reason: "must be letters, digits and underscores, at most 44" });
  }
  return Object.fromEntries(Object.entries(names).map(([key, name]) => [key, `\`${prefix}${name}\``])) as Tables;
}

/**
 * The server's clock in epoch milliseconds, as of the beginning of the statement: whatever the session's time zone is, and
 * also while clocks are set back in autumn.
 */
export const clock = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000)";

/** What a column for a name holds: 255 characters of any kind. */
export const maxNameBytes = 1020;

/** Most rows in one statement. */
const maxRows = 256;

/** Bytes of the values of a row, about. */
function sizeOf(row: readonly MysqlValue[]): number {
  return row.reduce((sum: number, value) => sum + (typeof value === "string" ? Buffer.byteLength(value) : 16), 0);
}

/** Cuts rows into parts that fit into one statement each: so many rows, so many bytes. */
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
export function repeated(count: number, text: string, between = ", "): string {
  return Array(count).fill(text).join(between);
}

/** A list of values for `IN`: its text and its values. To name one twice changes nothing. */
export function among<V extends MysqlValue>(values: readonly V[]): { readonly text: string; readonly values: readonly V[] } {
  const all = filled(values, (last) => last);
  return { text: `IN (${repeated(all.length, "?")})`, values: all };
}

/**
 * Refuses a name that its column would cut off where the server is not strict.
 *
 * @throws StepfoldError `LIMIT_EXCEEDED`
 */
export function refuseLongName(what: string, name: string | null | undefined): void {
  const actual = Buffer.byteLength(name ?? "");
  if (actual <= maxNameBytes) return;
  throw new StepfoldError("LIMIT_EXCEEDED", { what, limit: "mysql name in bytes", max: maxNameBytes, actual });
}
