import { lockLimitMark } from "../../kit/no-answer.ts";
import type { SqlColumn } from "../../kit/sql-layout.ts";

/** Separates values in one parameter or column. JSON never holds it raw, and `plainText` escapes it. */
const separator = "\u001e";

/** The same in SQL. */
export const sqlSeparator = "chr(30)";

const special = /[\\\p{Cc}\p{Surrogate}]/u;
const everySpecial = /[\\\p{Cc}\p{Surrogate}]/gu;

/**
 * An id as the database holds it: as it is, unless it has a backslash, control characters or half a surrogate pair, not all
 * of which the type `text` can hold. Those are escaped, so that different ids stay different.
 */
export function plainText(id: string): string {
  if (!special.test(id)) return id;
  return id.replace(everySpecial, (found) => (found === "\\" ? "\\\\" : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

/** The id that `plainText` wrote. */
export function idOf(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(\\|u([0-9a-f]{4}))/g, (_, what: string, code: string) =>
    what === "\\" ? "\\" : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** A whole number as `bigint` takes it: rounded, and within what JavaScript tells apart. */
export function wholeText(value: number, round: (value: number) => number = Math.ceil): string {
  return String(Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, round(value))));
}

const texts: ReadonlySet<string> = new Set(["id", "incarnation", "status", "owner", "permit_key"]);

/** Columns as text, because drivers differ in what they make of other types. @param table in which they are */
export function columnsAsText(columns: readonly string[], table: string): string {
  return columns.map((name) => (texts.has(name) ? name : `${table}.${name}::text`)).join(", ");
}

/** Gives the parameters of a statement, whose values it adds to those. */
export function numberedBinder(values: string[]): (value: string | number) => string {
  return (value) => `$${values.push(typeof value === "string" ? plainText(value) : wholeText(value))}`;
}

/** Many values as one parameter; null is the empty text. */
export function joined(values: readonly (string | number | null)[]): string {
  return values.map((value) => value ?? "").join(separator);
}

/** A parameter with many texts, none of which is null. */
export function textsIn(parameter: number): string {
  return `string_to_array($${parameter}, ${sqlSeparator})`;
}

/** A parameter with many texts; an empty one is null. */
export function nullableTextsIn(parameter: number): string {
  return `string_to_array($${parameter}, ${sqlSeparator}, '')`;
}

/** A parameter with many numbers; an empty text is null. */
export function numbersIn(parameter: number): string {
  return `${nullableTextsIn(parameter)}::bigint[]`;
}

/** A column of what a statement is about. A name has a sign before it, because it may be empty, and an empty parameter is null. */
export interface WantedColumn<W> extends Pick<SqlColumn, "name"> {
  readonly is: SqlColumn["is"] | "flag";
  of(write: W): string | number | boolean | null | undefined;
}

const sqlTexts: Readonly<Record<WantedColumn<unknown>["is"], (value: never) => string>> = {
  id: plainText,
  name: (value) => `=${plainText(value)}`,
  json: (value) => value,
  text: (value) => value,
  number: (value) => wholeText(value),
  flag: (value) => (value ? "t" : "f"),
};

/** Whether no write has a value for a column, some have one, or all. */
type Presence = "none" | "some" | "all";

/** The rows that a statement is about. */
export interface WantedRows {
  /** Makes them `wanted`. */
  readonly sql: string;
  /** Their parameters, which are the first of the statement. */
  readonly values: readonly string[];
  readonly presence: (column: string) => Presence;
}

/**
 * The rows that a statement is about, no two of them with one id. What is the same in all of them is one value and no list, and a column
 * that no row has is the constant NULL: the server has less to read and to plan. A lone row, the common case, is the cheapest to plan.
 */
export function wantedRows<W>(columns: readonly WantedColumn<W>[], writes: readonly W[]): WantedRows {
  const values: string[] = [];
  const [listed, sources, single] = [[] as string[], [] as string[], [] as string[]];
  const presences = new Map<string, Presence>();
  for (const { name, is, of } of columns) {
    const texts = writes.map((write) => {
      const value = of(write);
      return value == null ? null : sqlTexts[is](value as never);
    });
    const type = is === "number" ? "bigint" : "text";
    const [first] = texts as [string | null];
    const isSame = texts.every((text) => text === first);
    presences.set(name, isSame ? (first === null ? "none" : "all") : texts.includes(null) ? "some" : "all");
    if (isSame && first === null) single.push(`NULL::${type} AS ${name}`);
    else if (isSame) single.push(`$${values.push(first!)}::${type} AS ${name}`);
    else {
      const parameter = values.push(joined(texts));
      sources.push((is === "number" ? numbersIn : nullableTextsIn)(parameter));
      listed.push(name);
    }
  }
  const presence = (column: string): Presence => presences.get(column)!;
  if (writes.length === 1) return { sql: `wanted AS (SELECT ${["1::bigint AS ordinal", ...single].join(", ")})`, values, presence };
  const rows = `unnest(${sources.join(", ")}) WITH ORDINALITY AS each (${listed.join(", ")}, ordinal)`;
  return { sql: `wanted AS MATERIALIZED (SELECT ${["each.*", ...single].join(", ")} FROM ${rows})`, values, presence };
}

/** The parts of a column that were joined. */
export function partsOf(text: string): string[] {
  return text === "" ? [] : text.split(separator);
}

const now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

/**
 * The clock that judges leases and due times: that of the server, and not `now()`, which stands still in a transaction.
 * Read once, so that all times of a statement agree.
 */
export const clock: string = `clock AS MATERIALIZED (SELECT ${now})`;

/**
 * The clock of a statement that writes. It is read before any row is locked, so it also says, for this transaction, how long the
 * server may wait for one; a shorter limit of the user's own stays.
 */
export const writingClock: string = `clock AS MATERIALIZED (SELECT ${now},
  set_config('lock_timeout', least(nullif(extract(epoch FROM current_setting('lock_timeout')::interval) * 1000, 0), ${lockLimitMark})::int::text, true))`;
