import type { Status } from "../../../core/snapshot/snapshot.ts";
import { durationBoundsMs, type SeriesQuery } from "../../../ports/execution-counts.ts";
import { bucketMs } from "../../../ports/list-fallbacks.ts";
import { type ColumnRow, type Term, termsSql } from "../columns.ts";
import type { CountedRows, EndedCounts, PageQuery } from "../execution-table.ts";
import { statuses } from "./checked-query.ts";

/** What differs between SQL databases. */
export interface CountDialect {
  /** Gives the name of a parameter with a value. */
  readonly bind: (value: string | number, column: string) => string;
  /** Divides whole numbers. Default `/`. */
  readonly divide?: string;
  /** A number as the database gives it. Default: as it is. */
  readonly shown?: (number: string) => string;
}

/**
 * The statement that counts rows by status, at most `limit` of each: it looks at no more of them.
 *
 * @param from the table
 * @param conditionOf the condition of a query
 */
export function countSql(
  query: PageQuery,
  from: string,
  conditionOf: (query: PageQuery) => string,
  { bind, shown = (number) => number }: CountDialect,
): string {
  const parts = (query.status ?? statuses).map((status) => {
    const which = conditionOf({ ...query, status: [status] });
    return `SELECT '${status}' AS status, ${shown("count(*)")} AS amount FROM (SELECT 1 AS found FROM ${from} WHERE ${which} LIMIT ${bind(query.limit, "")}) AS counted`;
  });
  return parts.join(" UNION ALL ");
}

/** What the rows of a `countSql` say. */
export function countsIn(rows: readonly ColumnRow[]): CountedRows {
  return { counts: new Map(rows.map(({ status, amount }) => [status as Status, Number(amount)])) };
}

/** The statement that counts what has ended, by part of the time, status and class of duration. */
export function endedCountsSql(query: SeriesQuery, from: string, { bind, divide = "/", shown = (number) => number }: CountDialect): string {
  const classes = durationBoundsMs.map((bound, index) => `WHEN ended_at - created_at < ${bound} THEN ${index}`).join(" ");
  const terms: Term[] = [
    { column: "ended_at", is: ">=", value: query.from },
    { column: "ended_at", is: "<", value: query.to },
    ...(query.definitionId === undefined ? [] : [{ column: "definition_id", is: "=", value: query.definitionId } as const]),
  ];
  return `SELECT ${shown("bucket")} AS bucket, status, ${shown("duration_class")} AS duration_class, ${shown("count(*)")} AS amount FROM (
    SELECT (ended_at - ${query.from}) ${divide} ${bucketMs(query)} AS bucket, status, CASE ${classes} ELSE ${durationBoundsMs.length} END AS duration_class
    FROM ${from} WHERE ${termsSql(terms, bind)}) AS done GROUP BY bucket, status, duration_class`;
}

/** What the rows of an `endedCountsSql` say. */
export function endedCountsIn(rows: readonly ColumnRow[]): EndedCounts {
  const counts = rows.map(({ bucket, status, duration_class: durationClass, amount }) => ({
    ...{ bucket: Number(bucket), status: status as Status, durationClass: Number(durationClass), amount: Number(amount) },
  }));
  return { counts };
}
