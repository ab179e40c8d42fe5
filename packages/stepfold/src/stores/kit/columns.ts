import type { Status } from "../../core/snapshot/snapshot.ts";
import type { Permit } from "../../core/values/shared-keys.ts";
import type { SeriesQuery } from "../../ports/execution-counts.ts";
import type { ExecutionGuard, RowCondition } from "./execution-rows.ts";
import type { EarlierRunsQuery, EndedQuery, LaterRun, ListedRow, PageQuery } from "./lists/list-table.ts";
import type { StoredRows } from "./restoring/restored-snapshot.ts";

// Executions as columns with one value each, for databases with tables.

/** A row as a database returns it. Numbers may be text. */
export type ColumnRow = Readonly<Record<string, unknown>>;

/** The columns of an `ExecutionGuard`. */
export const guardColumns: readonly string[] = [
  ...["seq", "id", "incarnation", "version", "status", "wake_at", "due_at"],
  ...["size_bytes", "owner", "fence", "crashes", "permit_key", "permit_limit", "exempt_at", "deleted_at", "run_since", "trimmed"],
];

/** The columns of a `ListedRow` in addition to those of a guard. */
export const listedColumns: readonly string[] = ["definition", "metadata", "head", "created_at", "updated_at"];

/** The columns of a guard that hold whole numbers, and are never empty. */
const countColumns = ["seq", "version", "size_bytes", "fence", "crashes", "trimmed"] as const;

/** The columns of a guard that hold times and versions, and may be empty. */
const timeColumns = ["wake_at", "due_at", "exempt_at", "deleted_at", "run_since"] as const;

/**
 * Whether the numbers of a row are numbers that JavaScript holds exactly, and its counts whole. A row that was damaged, or written by somebody else, is left
 * out of what is read of many executions, so that only its own stands still.
 */
export function isWhole(row: ColumnRow): boolean {
  // a database that keeps what it is given may hold a time with a fraction
  const isTime = (value: unknown): boolean => value === null || value === undefined || Math.abs(Number(value)) <= Number.MAX_SAFE_INTEGER;
  return (
    countColumns.every((name) => row[name] !== null && Number.isSafeInteger(Number(row[name]))) &&
    timeColumns.every((name) => isTime(row[name]))
  );
}

const wholeNumbers = [
  ...countColumns.filter((name) => name !== "seq"),
  "coalesce(wake_at, 0)",
  "coalesce(exempt_at, 0)",
  "coalesce(run_since, 0)",
].join(", ");

/**
 * SQL for what `isWhole` says, for statements that select a number of rows: a damaged row does not take the place of another. Two comparisons
 * and not one for each column, because a server that knows nothing about the values takes each condition as one that few rows meet, and then
 * reads many rows instead of the first ones of an index.
 */
export const wholeRowSql: string = `(greatest(${wholeNumbers}) > ${Number.MAX_SAFE_INTEGER} OR least(${wholeNumbers}) < ${-Number.MAX_SAFE_INTEGER}) IS NOT TRUE`;

/** SQL for a time by which a list is sorted. A time that is none is one of the far ends, so that a list goes on after its row. */
export function sortableTimeSql(column: string): string {
  return `greatest(least(${column}, ${Number.MAX_SAFE_INTEGER}), ${-Number.MAX_SAFE_INTEGER})`;
}

/** Reads the guard in a row. @param textOf decodes a text that users choose: an id, an owner, a key, an incarnation */
export function guardOf(row: ColumnRow, textOf: (value: string) => string = (value) => value): ExecutionGuard {
  const numberIn = (name: string): number | null => (row[name] === null ? null : Number(row[name]));
  const countIn = (name: (typeof countColumns)[number]): number => numberIn(name) ?? Number.NaN;
  const textIn = (name: string): string | null => (row[name] === null ? null : textOf(row[name] as string));
  const permit = row.permit_limit === null ? null : { key: textIn("permit_key"), limit: numberIn("permit_limit") };
  return {
    ...{ id: textIn("id")!, incarnation: textIn("incarnation")!, owner: textIn("owner"), status: row.status as Status },
    ...{ seq: countIn("seq"), version: countIn("version"), fence: countIn("fence"), crashes: countIn("crashes") },
    ...{
      sizeBytes: countIn("size_bytes"),
      wakeAt: numberIn("wake_at"),
      dueAt: numberIn("due_at"),
      exemptAt: numberIn("exempt_at"),
      deletedAt: numberIn("deleted_at"),
      runSince: numberIn("run_since"),
      trimmed: countIn("trimmed"),
      permit: permit as Permit | null,
    },
  };
}

/** Reads a guard with the column `checkpoint_version`. */
export function laterRunOf(row: ColumnRow, textOf?: (value: string) => string): LaterRun {
  const { checkpoint_version: version } = row;
  return { ...guardOf(row, textOf), checkpointVersion: version === null ? null : Number(version) };
}

/** Reads the columns that a list shows. */
export function listedRowOf(row: ColumnRow, textOf?: (value: string) => string): ListedRow {
  const { definition, metadata, head } = row as Record<string, string>;
  const times = { createdAt: Number(row.created_at), updatedAt: Number(row.updated_at) };
  return { ...guardOf(row, textOf), ...times, definition: definition!, metadata: metadata!, head: head! };
}

/**
 * Returns the executions, by id, in the rows of one statement that reads them with their events and children: one statement sees one state
 * of the data. Every row has the `seq` of its execution, and JSON as `body`. The row of a head has a `status`, the id as `name`, and the
 * version as `place`. A child has its key as `name`, and an event has no name; both are sorted by `place`.
 *
 * @param textOf decodes a name
 */
export function storedRowsOf(rows: readonly ColumnRow[], textOf: (value: string) => string = (value) => value): Map<string, StoredRows> {
  const found = new Map<unknown, StoredRows & { readonly events: string[]; readonly children: [string, string][] }>();
  for (const { seq, place, name, status, body } of rows) {
    if (status === null) continue;
    const head = { workflowId: textOf(name as string), version: Number(place), status: status as Status, head: body as string };
    found.set(seq, { ...head, events: [], children: [] });
  }
  // a UNION may return rows in any order
  for (const { seq, name, status, body } of [...rows].sort((a, b) => Number(a.place) - Number(b.place))) {
    if (status !== null) continue;
    if (name === null) found.get(seq)?.events.push(body as string);
    else found.get(seq)?.children.push([textOf(name as string), body as string]);
  }
  return new Map([...found.values()].map((stored) => [stored.workflowId, stored]));
}

/** Returns the ids. An empty list becomes [""], an id that no row has: with no id at all, a database may read every row. */
export function nonEmptyIds(ids: readonly string[]): readonly string[] {
  return ids.length > 0 ? ids : [""];
}

/** A condition on one column. */
export type Term =
  | { readonly column: string; readonly is: "=" | "<" | ">" | ">="; readonly value: string | number }
  | { readonly column: string; readonly is: "IN"; readonly values: readonly string[] }
  | { readonly column: string; readonly is: "NULL" | "NOT NULL" };

/** The terms of a write's condition, except `due`, which needs the database's clock. */
export function conditionTerms({ incarnation, version, fence, held, open, deleted = false, runSince }: RowCondition): Term[] {
  return [
    { column: "incarnation", is: "=", value: incarnation },
    { column: "deleted_at", is: deleted ? "NOT NULL" : "NULL" },
    ...equals("version", version),
    ...equals("fence", fence),
    ...(held === undefined ? [] : [{ column: "owner", is: held ? "NOT NULL" : "NULL" } as const]),
    ...(open === undefined ? [] : [{ column: "ended_at", is: open ? "NULL" : "NOT NULL" } as const]),
    ...equals("run_since", runSince),
  ];
}

/**
 * The terms of a list query, except labels and the cursor, which each database writes in its own way. Times are rounded, because the
 * columns hold whole numbers.
 */
export function pageTerms({ status, definitionId, createdBefore, createdAfter, idPrefix = "" }: PageQuery): Term[] {
  return [
    { column: "deleted_at", is: "NULL" },
    ...(status ? [{ column: "status", is: "IN", values: status } as const] : []),
    ...equals("definition_id", definitionId),
    ...(createdBefore === undefined ? [] : [{ column: "created_at", is: "<", value: Math.ceil(createdBefore) } as const]),
    ...(createdAfter === undefined ? [] : [{ column: "created_at", is: ">", value: Math.floor(createdAfter) } as const]),
    ...(idPrefix === "" ? [] : idTerms(idPrefix)),
  ];
}

/** The terms that select rows which ended in the period of a series. */
export function seriesTerms({ from, to, definitionId }: SeriesQuery): Term[] {
  return [
    { column: "ended_at", is: ">=", value: from },
    { column: "ended_at", is: "<", value: to },
    ...equals("definition_id", definitionId),
  ];
}

/** The terms that select rows which may be deleted. The column of the first term is also the one to sort by. */
export function endedTerms({ before, ended }: EndedQuery): Term[] {
  if (!ended) return [{ column: "deleted_at", is: "<", value: Math.ceil(before) }];
  return [
    { column: "ended_at", is: "<", value: Math.ceil(before) },
    { column: "status", is: "IN", values: ended.statuses },
    ...equals("definition_id", ended.definitionId ?? undefined),
  ];
}

/** The terms that select executions with events of earlier runs. The column of the first term is also the one to sort by. */
export function earlierRunsTerms({ before, definitionId, id }: EarlierRunsQuery): Term[] {
  const named = [...equals("definition_id", definitionId ?? undefined), ...equals("id", id ?? undefined)];
  return [{ column: "run_at", is: "<", value: Math.ceil(before) }, ...named];
}

/** Writes terms as SQL. @param bind adds a parameter with this value, which is compared with that column, and returns its name */
export function termsSql(terms: readonly Term[], bind: (value: string | number, column: string) => string): string {
  const sqlOf = (term: Term): string => {
    const { column } = term;
    // NULL equals no value. It is there because SQL does not allow an empty list
    if (term.is === "IN") return `${column} IN (${["NULL", ...term.values.map((value) => bind(value, column))].join(", ")})`;
    return "value" in term ? `${column} ${term.is} ${bind(term.value, column)}` : `${term.column} IS ${term.is}`;
  };
  return terms.map(sqlOf).join(" AND ");
}

/** The range of ids that begin with a prefix. Its end is the prefix with the last Unicode character, which ids hardly ever contain. */
function idTerms(prefix: string): Term[] {
  return [
    { column: "id", is: ">=", value: prefix },
    { column: "id", is: "<", value: `${prefix}\u{10ffff}` },
  ];
}

function equals(column: string, value: string | number | undefined): Term[] {
  return value === undefined ? [] : [{ column, is: "=", value }];
}
