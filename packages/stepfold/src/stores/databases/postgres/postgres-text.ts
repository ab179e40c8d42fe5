import { lockLimitMark } from "../../kit/lock-limit.ts";
import type { SqlColumn } from "../../kit/sql-layout.ts";

/** The character that separates values in one parameter or column. JSON never contains it unescaped, and `plainText` escapes it. */
const separator = "\u001e";

/** The separator as an SQL expression. */
export const sqlSeparator = "chr(30)";

/** Matches the characters that `plainText` escapes. */
const special = /[\\\p{Cc}\p{Surrogate}]/u;
const everySpecial = /[\\\p{Cc}\p{Surrogate}]/gu;

/**
 * Returns an id in the form that the database stores. Backslashes, control characters and halves of surrogate pairs are escaped,
 * because the type `text` cannot hold all of them. Different ids stay different.
 */
export function plainText(id: string): string {
  if (!special.test(id)) return id;
  return id.replace(everySpecial, (found) => (found === "\\" ? "\\\\" : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

/** Returns the id from the form that `plainText` wrote. */
export function idOf(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(\\|u([0-9a-f]{4}))/g, (_, what: string, code: string) =>
    what === "\\" ? "\\" : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Returns a number as the text of a `bigint`: rounded, and limited to JavaScript's safe integers. */
export function wholeText(value: number, round: (value: number) => number = Math.ceil): string {
  return String(Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, round(value))));
}

/** Columns that are text already. */
const texts: ReadonlySet<string> = new Set(["id", "incarnation", "status", "owner", "permit_key"]);

/** Returns columns as text, because drivers convert other types differently. @param table the table that has the columns */
export function columnsAsText(columns: readonly string[], table: string): string {
  return columns.map((name) => (texts.has(name) ? name : `${table}.${name}::text`)).join(", ");
}

/** Returns a function that adds a value to `values` and returns the name of its parameter, such as `$2`. */
export function numberedBinder(values: string[]): (value: string | number) => string {
  return (value) => `$${values.push(typeof value === "string" ? plainText(value) : wholeText(value))}`;
}

/** Joins values into one parameter; null becomes the empty text. */
export function joined(values: readonly (string | number | null)[]): string {
  return values.map((value) => value ?? "").join(separator);
}

/** Returns the SQL array of the texts in a parameter that `joined` made. None of them is NULL. */
export function textsIn(parameter: number): string {
  return `string_to_array($${parameter}, ${sqlSeparator})`;
}

/** Returns the SQL array of the texts in a parameter that `joined` made. An empty text becomes NULL. */
export function nullableTextsIn(parameter: number): string {
  return `string_to_array($${parameter}, ${sqlSeparator}, '')`;
}

/** Returns the SQL array of the numbers in a parameter that `joined` made. An empty text becomes NULL. */
export function numbersIn(parameter: number): string {
  return `${nullableTextsIn(parameter)}::bigint[]`;
}

/**
 * A column of `input`, and how its value is read from a write. A value of the kind `name` gets a `=` in front, because a name may be
 * empty, and an empty text in a list becomes NULL.
 */
export interface InputColumn<W> extends Pick<SqlColumn, "name"> {
  readonly is: SqlColumn["is"] | "flag";
  of(write: W): string | number | boolean | null | undefined;
}

const sqlTexts: Readonly<Record<InputColumn<unknown>["is"], (value: never) => string>> = {
  id: plainText,
  name: (value) => `=${plainText(value)}`,
  json: (value) => value,
  text: (value) => value,
  number: (value) => wholeText(value),
  flag: (value) => (value ? "t" : "f"),
};

/** Tells whether no write has a value for a column, some writes have one, or all. */
type Presence = "none" | "some" | "all";

/**
 * How each column of `input` gets its values, one character for each: `0` no write has a value, `1` all writes have the same value, `l`
 * each write has its own, `n` some writes have none. The SQL depends on the columns and this shape only, and on no value.
 */
type InputShape = string;

/** Writes as rows of `input`. */
interface InputRows {
  /** The parameters, which are the first parameters of the statement. */
  readonly values: string[];
  readonly shape: InputShape;
}

/** The SQL of `input`. */
export interface InputSql {
  /** The common table expression `input`, which has one row for each write. */
  readonly sql: string;
  readonly presence: (column: string) => Presence;
  /** The number of the first parameter after those of `input`. */
  readonly nextParameter: number;
}

/** Reads the values of columns from writes, each on a different id. A value that all rows share is sent once and not as a list. */
export function inputRows<W>(columns: readonly InputColumn<W>[], writes: readonly W[]): InputRows {
  const values: string[] = [];
  let shape = "";
  for (const column of columns) {
    const first = inputText(column, writes[0]!);
    const texts = writes.length === 1 ? null : writes.map((write) => inputText(column, write));
    if (texts?.some((text) => text !== first)) {
      values.push(joined(texts));
      shape += texts.includes(null) ? "n" : "l";
    } else {
      if (first !== null) values.push(first);
      shape += first === null ? "0" : "1";
    }
  }
  return { values, shape };
}

function inputText<W>({ is, of }: InputColumn<W>, write: W): string | null {
  const value = of(write);
  return value == null ? null : sqlTexts[is](value as never);
}

/**
 * Returns the SQL of `input`. A column without any value is the constant NULL, so that the server has less to read and to plan. A single
 * row, the common case, is the cheapest to plan.
 */
export function inputSql<W>(columns: readonly InputColumn<W>[], shape: InputShape, isSingle: boolean): InputSql {
  let nextParameter = 1;
  const [listed, sources, single] = [[] as string[], [] as string[], [] as string[]];
  const presences = new Map<string, Presence>();
  for (const [index, { name, is }] of columns.entries()) {
    const form = shape[index]!;
    presences.set(name, form === "0" ? "none" : form === "n" ? "some" : "all");
    const type = is === "number" ? "bigint" : "text";
    if (form === "0") single.push(`NULL::${type} AS ${name}`);
    else if (form === "1") single.push(`$${nextParameter++}::${type} AS ${name}`);
    else {
      sources.push((is === "number" ? numbersIn : nullableTextsIn)(nextParameter++));
      listed.push(name);
    }
  }
  const presence = (column: string): Presence => presences.get(column)!;
  if (isSingle) return { sql: `input AS (SELECT ${["1::bigint AS ordinal", ...single].join(", ")})`, presence, nextParameter };
  const rows = `unnest(${sources.join(", ")}) WITH ORDINALITY AS each (${listed.join(", ")}, ordinal)`;
  return { sql: `input AS MATERIALIZED (SELECT ${["each.*", ...single].join(", ")} FROM ${rows})`, presence, nextParameter };
}

/** Returns the values of a column in which they were joined. */
export function partsOf(text: string): string[] {
  return text === "" ? [] : text.split(separator);
}

const now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

/**
 * The common table expression `clock`: the server's time, which decides about leases and due times. It does not use `now()`, which
 * stays the same during a transaction. A statement reads the time once, so that all its times agree.
 */
export const clock: string = `clock AS MATERIALIZED (SELECT ${now})`;

/**
 * The `clock` of a statement that writes. The server evaluates it before any row is locked, so it also sets, for this transaction, how
 * long the server may wait for a locked row. A shorter `lock_timeout` of the user stays in force.
 */
export const writingClock: string = `clock AS MATERIALIZED (SELECT ${now},
  set_config('lock_timeout', least(nullif(extract(epoch FROM current_setting('lock_timeout')::interval) * 1000, 0), ${lockLimitMark})::int::text, true))`;
