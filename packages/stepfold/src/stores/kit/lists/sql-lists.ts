import type { Status } from "../../../core/snapshot/snapshot.ts";
import { durationBoundsMs } from "../../../ports/execution-counts.ts";
import { bucketMs } from "../../../ports/list-fallbacks.ts";
import { type ColumnRow, endedTerms, guardOf, listedRowOf, pageTerms, seriesTerms, termsSql } from "../columns.ts";
import type { ListCursor, ListTable, PageQuery } from "../execution-table.ts";
import { listedPart } from "../row-rules.ts";
import { statuses } from "./checked-query.ts";

/** Gives the name of a parameter with a value, which is compared with a column. */
type Bind = (value: string | number, column?: string) => string;

/** How a database says what lists ask for. */
export interface ListDialect<V> {
  /** The table; by an index that is to be read, where the database has to be told. */
  readonly from: string;
  readonly byTime?: Readonly<Record<"ended" | "deleted", string>>;
  /** Columns of a guard, and of a row in a list. */
  readonly guard: string;
  readonly listed: string;
  /** Gives the parameters of a statement, whose values it adds to those. */
  binder(values: V[]): Bind;
  ask(text: string, values: readonly V[]): Promise<readonly ColumnRow[]>;
  /** The condition for a label, which has a separator on either side. */
  labelled(label: string, values: V[]): string;
  /** The condition for what follows an execution. Default: by both columns of the index at once. */
  follows?(than: string, after: ListCursor, bind: Bind): string;
  /** Columns of a tombstone are empty, so it need not be left out. */
  readonly leavesOutDeleted?: true;
  /** Divides whole numbers. Default `/`. */
  readonly divide?: string;
  /** A number as the database gives it. Default: as it is. */
  shown?(number: string): string;
  /** Reads a text of the user. Default: as it is. */
  textOf?(value: string): string;
}

/** Lists of a table in an SQL database. */
export function sqlLists<V>(dialect: ListDialect<V>): ListTable {
  const { from, byTime, textOf, ask, shown = (number) => number } = dialect;
  const conditionOf = (query: PageQuery, values: V[]): string => {
    const all = pageTerms(query);
    const terms = dialect.leavesOutDeleted ? [{ column: "created_at", is: "NOT NULL" } as const, ...all.slice(1)] : all;
    // one after the other: values are in the order of their parameters
    return [termsSql(terms, dialect.binder(values)), ...query.labels.map((label) => dialect.labelled(label, values))].join(" AND ");
  };
  return {
    async page(query) {
      const values: V[] = [];
      const bind = dialect.binder(values);
      const [than, direction] = query.order === "newest" ? ["<", "DESC"] : [">", "ASC"];
      const { follows = (sign, { createdAt, seq }, name) => `(created_at, seq) ${sign} (${name(createdAt)}, ${name(seq)})` } = dialect;
      const conditions = [conditionOf(query, values), ...(query.after ? [follows(than, query.after, bind)] : [])];
      const text = `SELECT ${dialect.listed} FROM ${from} WHERE ${conditions.join(" AND ")}
        ORDER BY executions.created_at ${direction}, executions.seq ${direction} LIMIT ${bind(query.limit)}`;
      const rows = await ask(text, values);
      return listedPart(
        rows.map((row) => listedRowOf(row, textOf)),
        query,
      );
    },
    /** It looks at no more rows of a status than it counts. */
    async count(query) {
      const values: V[] = [];
      const counted = query.status ?? statuses;
      const parts = counted.map((status) => {
        const found = `SELECT 1 AS found FROM ${from} WHERE ${conditionOf({ ...query, status: [status] }, values)}`;
        const limit = dialect.binder(values)(query.limit);
        return `(SELECT ${shown("count(*)")} FROM (${found} LIMIT ${limit}) AS counted) AS of_${status}`;
      });
      // one row: a database may not take as many selects in a union
      const [row] = await ask(`SELECT ${parts.join(", ")}`, values);
      return { counts: new Map(counted.map((status) => [status, Number(row![`of_${status}`])])) };
    },
    async endedCounts(query) {
      const values: V[] = [];
      const grouped = "bucket, status, duration_class";
      const text = `SELECT ${shown("bucket")} AS bucket, status, ${shown("duration_class")} AS duration_class, ${shown("count(*)")} AS amount FROM (
        SELECT (ended_at - ${query.from}) ${dialect.divide ?? "/"} ${bucketMs(query)} AS bucket, status, ${durationClassSql} AS duration_class
        FROM ${byTime?.ended ?? from} WHERE ${termsSql(seriesTerms(query), dialect.binder(values))}) AS done GROUP BY ${grouped}`;
      const counts = (await ask(text, values)).map(({ bucket, status, duration_class: durationClass, amount }) => ({
        ...{ bucket: Number(bucket), status: status as Status, durationClass: Number(durationClass), amount: Number(amount) },
      }));
      return { counts };
    },
    async ended(query) {
      const values: V[] = [];
      const bind = dialect.binder(values);
      const name = query.ended ? "ended" : "deleted";
      // by time, whatever else is asked: a prune takes the oldest first
      const text = `SELECT ${dialect.guard} FROM ${byTime?.[name] ?? from} WHERE ${termsSql(endedTerms(query), bind)}
        ORDER BY executions.${name}_at, executions.seq LIMIT ${bind(query.limit)}`;
      return (await ask(text, values)).map((row) => guardOf(row, textOf));
    },
  };
}

const classes = durationBoundsMs.map((bound, index) => `WHEN ended_at - created_at < ${bound} THEN ${index}`);
const durationClassSql = `CASE ${classes.join(" ")} ELSE ${durationBoundsMs.length} END`;
