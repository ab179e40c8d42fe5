import type { Database } from "libsql";
import type { DescribeResult, Stmt, StmtResult } from "./pipeline.ts";
import { fromHrana, type SqlValue, toHrana } from "./value.ts";

/** Runs one statement at once, without waiting for a lock. */
export function runStatement(connection: Database, sql: string, stmt: Stmt): StmtResult {
  const values = argumentsOf(sql, stmt);
  const statement = connection.prepare(sql).safeIntegers(true);
  const before = counters(connection);
  let cols: StmtResult["cols"] = [];
  let rows: SqlValue[][] = [];
  if (statement.reader) {
    cols = columnsOf(statement);
    rows = statement.raw(true).all(values) as SqlValue[][];
  } else {
    statement.run(values);
  }
  const after = counters(connection);
  const wanted = stmt.want_rows ?? true;
  return {
    cols: wanted ? cols : [],
    rows: wanted ? rows.map((row) => row.map(toHrana)) : [],
    // changes() keeps the count of the last statement that wrote; total_changes() tells whether this statement wrote.
    affected_row_count: after.total === before.total ? 0 : Number(after.changes),
    last_insert_rowid: String(after.rowid),
  };
}

/** Returns false only if the first words show that the statement takes no write lock. */
export function mayWrite(sql: string): boolean {
  return !/^\s*(select|values|explain|pragma|commit|end|rollback|savepoint|release|begin\s*(;|$|deferred\b|transaction\b))/i.test(sql);
}

/**
 * Describes a statement by its compiled program. The connection must not be in use, because the explanation of a write stays open and
 * keeps its connection from committing.
 */
export function describeStatement(connection: Database, sql: string): DescribeResult {
  const isExplain = /^\s*explain\b/i.test(sql);
  const program = connection.prepare(isExplain ? sql : `explain ${sql}`).all([]) as Instruction[];
  const params: { name: string | null }[] = [];
  for (const { opcode, p1, p4 } of program) if (opcode === "Variable") params[p1 - 1] = { name: p4 };
  const statement = connection.prepare(sql);
  return {
    params: Array.from(params, (param) => param ?? { name: null }),
    cols: statement.reader ? columnsOf(statement) : [],
    is_explain: isExplain,
    is_readonly: isExplain || !program.some(({ opcode, p2 }) => opcode === "Transaction" && p2 > 0),
  };
}

interface Instruction {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
  readonly p4: string | null;
}

/** Returns the arguments as the native driver takes them: positions as a list, or names without their prefix as an object. */
function argumentsOf(sql: string, { args = [], named_args: named = [] }: Stmt): SqlValue[] | Record<string, SqlValue> {
  if (named.length === 0) return args.map(fromHrana);
  // The native driver aborts the process if it gets names and the SQL has a parameter without one.
  if (args.length > 0 || hasNamelessParameter(sql)) throw new RangeError("Parameters are either named or positional here");
  return Object.fromEntries(named.map(({ name, value }) => [name.replace(/^[:@$]/, ""), fromHrana(value)]));
}

function hasNamelessParameter(sql: string): boolean {
  return /\?(?!\d)/.test(sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--.*|\/\*[\s\S]*?\*\//g, ""));
}

function columnsOf(statement: ReturnType<Database["prepare"]>): { name: string; decltype: string | null }[] {
  return statement.columns().map(({ name, type }) => ({ name, decltype: type }));
}

interface Counters {
  readonly total: number;
  readonly changes: number;
  readonly rowid: number | bigint;
}

function counters(connection: Database): Counters {
  const sql = "select total_changes() as total, changes() as changes, last_insert_rowid() as rowid";
  return connection.prepare(sql).safeIntegers(true).get([]) as Counters;
}
