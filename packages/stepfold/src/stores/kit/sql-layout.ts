import type { NewExecution } from "./execution-rows.ts";

/**
 * A column of an SQL table. `is` says what it holds:
 *
 * - `id`: a text that users may choose and that is never empty.
 * - `name`: a text that users may choose and that may be empty.
 * - `json`: JSON of any length.
 * - `text`: another text of Stepfold, of any length.
 */
export interface SqlColumn {
  readonly name: string;
  readonly is: "id" | "name" | "json" | "text" | "number";
  readonly isNullable?: true;
  /** The default value of the column. */
  readonly otherwise?: number;
  /** A description, for people who look at the tables. */
  readonly about?: string;
}

/** A column whose value comes from the new execution when its row is inserted. */
export interface InsertedColumn extends SqlColumn {
  /** Returns the value of the column. */
  of(created: { readonly id: string; readonly row: NewExecution }): string | number | null;
}

/**
 * The columns of an execution in every SQL database, in addition to `seq`. A column without `of` is filled from the database's clock, or
 * begins with a default value or NULL.
 */
export const executionColumns: readonly (SqlColumn | InsertedColumn)[] = [
  { name: "id", is: "id", of: ({ id }) => id },
  { name: "incarnation", is: "id", of: ({ row }) => row.incarnation },
  { name: "definition_id", is: "name", of: ({ row }) => row.definitionId },
  { name: "definition", is: "json", about: "id and hash of the definition, fixed at the start", of: ({ row }) => row.definition },
  { name: "metadata", is: "json", of: ({ row }) => row.metadata },
  { name: "labels", is: "text", about: "labels that lists search, each between two characters 29", of: ({ row }) => row.labels },
  { name: "version", is: "number", of: ({ row }) => row.version },
  { name: "status", is: "id", of: ({ row }) => row.status },
  { name: "head", is: "json", about: "the snapshot without the parts that are in events and in other columns", of: ({ row }) => row.head },
  { name: "size_bytes", is: "number", about: "size of the snapshot as JSON", of: ({ row }) => row.sizeBytes },
  {
    name: "checkpoint_version",
    is: "number",
    isNullable: true,
    about: "version of the last checkpoint: a load reads only later events, NULL: all events",
  },
  {
    name: "wake_at",
    is: "number",
    isNullable: true,
    about: "from the last commit: when it can go on, 0: now, NULL: never",
    of: ({ row }) => row.wakeAt,
  },
  { name: "due_at", is: "number", isNullable: true, about: "the end of the lease while it is held, else when it may be claimed" },
  { name: "owner", is: "name", isNullable: true, about: "the holder, NULL: not held", of: ({ row }) => row.owner },
  { name: "fence", is: "number", about: "the fence of the last claim", of: ({ row }) => row.fence },
  {
    name: "crashes",
    is: "number",
    otherwise: 0,
    about: "claims in a row that ran out without a commit of their holder, plus 1000000 for each holder that had begun",
  },
  { name: "permit_key", is: "name", isNullable: true, about: "its concurrency key", of: ({ row }) => row.permit?.key ?? null },
  {
    name: "permit_limit",
    is: "number",
    isNullable: true,
    about: "how many with this key are held at once",
    of: ({ row }) => row.permit?.limit ?? null,
  },
  {
    name: "exempt_at",
    is: "number",
    isNullable: true,
    about: "from when it may be held without counting for its concurrency key, 0: now, NULL: never",
    of: ({ row }) => row.exemptAt,
  },
  { name: "created_at", is: "number", isNullable: true, about: "times are milliseconds since 1970, by the clock of the database" },
  { name: "updated_at", is: "number" },
  {
    name: "ended_at",
    is: "number",
    isNullable: true,
    about: "time of the end, separate from updated_at, so that only the end writes its index",
  },
  { name: "deleted_at", is: "number", isNullable: true, about: "set: a tombstone, which keeps the id taken for a while" },
  { name: "run_at", is: "number", isNullable: true, about: "when its present run began, NULL: there are no events of earlier runs" },
  { name: "run_since", is: "number", isNullable: true, about: "the version with which that run began" },
  { name: "trimmed", is: "number", otherwise: 0, about: "the events of the versions 1 to this one were deleted" },
];

/** The columns whose values come from the new execution. */
export const insertedColumns: readonly InsertedColumn[] = executionColumns.filter((column): column is InsertedColumn => "of" in column);

/** The columns of an event. `execution` is the `seq` of its execution. */
export const eventColumns: readonly SqlColumn[] = [
  { name: "execution", is: "number" },
  { name: "version", is: "number" },
  { name: "commit_id", is: "id" },
  { name: "event", is: "json" },
];

/** The columns of a child that are alike in all databases; the column of its key differs. `execution` is the `seq` of its execution. */
export const childColumns: readonly SqlColumn[] = [
  { name: "execution", is: "number" },
  {
    name: "place",
    is: "number",
    about: "in order of creation: a child that changes keeps its place, one put after it was deleted is the last",
  },
  { name: "head", is: "json", about: "the child without its context (see events)" },
];

/**
 * Writes columns as lines of a CREATE TABLE statement.
 *
 * @param types the types of this database by kind of column
 * @param lineOf adds the comma and the description, if there is one, to the definition of a column
 */
export function columnDefinitions(
  columns: readonly SqlColumn[],
  types: Readonly<Record<SqlColumn["is"], string>>,
  lineOf: (definition: string, about: string | undefined) => string,
): string {
  const lines = columns.map(({ name, is, isNullable, otherwise, about }) => {
    const rest = `${isNullable ? "" : " NOT NULL"}${otherwise === undefined ? "" : ` DEFAULT ${otherwise}`}`;
    return `  ${lineOf(`${name} ${types[is]}${rest}`, about)}`;
  });
  return lines.join("\n");
}
