import type { Status } from "../../../core/snapshot/snapshot.ts";
import { statuses } from "../../../core/snapshot/snapshot.ts";
import { durationBoundsMs } from "../../../ports/execution-counts.ts";
import { bucketMs } from "../../../ports/list-fallbacks.ts";
import {
  type ColumnRow,
  earlierRunsTerms,
  endedTerms,
  guardOf,
  laterRunOf,
  listedRowOf,
  pageTerms,
  seriesTerms,
  termsSql,
} from "../columns.ts";
import { listedPart } from "../row-rules.ts";
import type { ListCursor, ListTable, PageQuery } from "./list-table.ts";

/** Adds a parameter with a value, which is compared with a column, and returns its name. */
type Bind = (value: string | number, column?: string) => string;

/** The parts of list statements that differ between SQL databases. */
export interface ListDialect<V> {
  /** The table in FROM, with the index to read if the database must be told. */
  readonly from: string;
  /** The same for queries by `ended_at`, `deleted_at` and `run_at`. Default: `from`. */
  readonly byTime?: Readonly<Record<"ended" | "deleted" | "run", string>>;
  /** The columns to select for a guard (`guard`), and for a row in a list (`listed`). */
  readonly guard: string;
  readonly listed: string;
  /** Returns a function that adds parameters to a statement and their values to `values`. */
  binder(values: V[]): Bind;
  ask(text: string, values: readonly V[]): Promise<readonly ColumnRow[]>;
  /** Returns the condition that a row has a label, which includes its separators. */
  labelled(label: string, values: V[]): string;
  /** Returns the condition that a row comes after a position (`than`: `<` or `>`). Default: compares both columns of the index together. */
  follows?(than: string, after: ListCursor, bind: Bind): string;
  /** True: `created_at` of a tombstone is NULL, so `created_at IS NOT NULL` replaces the condition on `deleted_at`. */
  readonly leavesOutDeleted?: true;
  /** The operator that divides whole numbers. Default `/`. */
  readonly divide?: string;
  /** SQL that is true for rows whose numbers the client can read. Default: all rows. */
  readonly readable?: string;
  /** Wraps an SQL expression so that the client returns its number exactly. Default: unchanged. */
  shown?(number: string): string;
  /** Decodes a text that users choose. Default: unchanged. */
  textOf?(value: string): string;
}

/** The time at the end of a list, to which dialects limit the times of damaged rows. */
function endOf(order: PageQuery["order"]): number {
  return order === "newest" ? -Number.MAX_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

/** Lists of a table in an SQL database. */
export function sqlLists<V>(dialect: ListDialect<V>): ListTable {
  const { from, byTime, textOf, ask, shown = (number) => number } = dialect;
  const conditionOf = (query: PageQuery, values: V[]): string => {
    const all = pageTerms(query);
    const terms = dialect.leavesOutDeleted ? [{ column: "created_at", is: "NOT NULL" } as const, ...all.slice(1)] : all;
    // the terms come first, then the labels: values must be in the order of their parameters
    return [termsSql(terms, dialect.binder(values)), ...query.labels.map((label) => dialect.labelled(label, values))].join(" AND ");
  };
  return {
    async page(query) {
      // behind a row whose time is no time there are only others of that kind, and the position does not tell them apart
      if (query.after && endOf(query.order) === query.after.createdAt) return { rows: [], next: null };
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
    /** For each status, the database stops as soon as it has found `limit` rows that match. */
    async count(query) {
      const values: V[] = [];
      const counted = query.status ?? statuses;
      const parts = counted.map((status) => {
        const found = `SELECT 1 AS found FROM ${from} WHERE ${conditionOf({ ...query, status: [status] }, values)}`;
        const limit = dialect.binder(values)(query.limit);
        return `(SELECT ${shown("count(*)")} FROM (${found} LIMIT ${limit}) AS counted) AS of_${status}`;
      });
      // one row with a column for each status: some databases limit the number of selects in a union
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
    ...removable(dialect),
  };
}

/** The methods that find what a prune or a trim may delete. `byTime` makes the database read the index of times: the oldest come first. */
function removable<V>({
  from,
  byTime,
  guard,
  textOf,
  ask,
  binder,
  readable = "1 = 1",
  shown = (number) => number,
}: ListDialect<V>): Pick<ListTable, "ended" | "earlierRuns"> {
  return {
    async ended(query) {
      const values: V[] = [];
      const bind = binder(values);
      const name = query.ended ? "ended" : "deleted";
      const text = `SELECT ${guard} FROM ${byTime?.[name] ?? from} WHERE ${termsSql(endedTerms(query), bind)} AND ${readable}
        ORDER BY executions.${name}_at, executions.seq LIMIT ${bind(query.limit)}`;
      return (await ask(text, values)).map((row) => guardOf(row, textOf));
    },
    async earlierRuns(query) {
      const values: V[] = [];
      const bind = binder(values);
      const text = `SELECT ${guard}, ${shown("checkpoint_version")} AS checkpoint_version FROM ${byTime?.run ?? from}
        WHERE ${termsSql(earlierRunsTerms(query), bind)} AND ${readable} ORDER BY executions.run_at, executions.seq LIMIT ${bind(query.limit)}`;
      return (await ask(text, values)).map((row) => laterRunOf(row, textOf));
    },
  };
}

const classes = durationBoundsMs.map((bound, index) => `WHEN ended_at - created_at < ${bound} THEN ${index}`);
const durationClassSql = `CASE ${classes.join(" ")} ELSE ${durationBoundsMs.length} END`;
