import type { Status } from "../../../core/snapshot/snapshot.ts";
import { findDueKeys } from "../../kit/claims/due-keys.ts";
import { guardColumns, guardOf, isWhole, listedColumns, listedRowOf, nonEmptyIds, storedRowsOf } from "../../kit/columns.ts";
import type { ExecutionGuard, RowWrite, RowWritten, StoredEvent } from "../../kit/execution-rows.ts";
import type { DueExecutions, DueKeys, DueQuery, ExecutionTable, KeyedDue } from "../../kit/execution-table.ts";
import type { ListedRow, ListTable } from "../../kit/lists/list-table.ts";
import { sqlLists } from "../../kit/lists/sql-lists.ts";
import type { RecordKind, RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import type { StoredRows } from "../../kit/restoring/restored-snapshot.ts";
import { byDueTime } from "../../kit/row-rules.ts";
import { areWhole, type DueTexts, dueTexts, dueTime, timeSql, wholeSql } from "./due-statements.ts";
import { WritePlanner } from "./row-statements.ts";
import { bindTo, Parameters, type SqliteSession, type SqlRow, type SqlStatement, type SqlValue } from "./statement.ts";

/** What differs between the databases that use the SQL of SQLite. */
export interface SqliteTableOptions extends Required<Pick<ExecutionTable, "name" | "features" | "grouping">> {
  /** SQL for the time in a statement. */
  readonly now: string;
  /** Returns SQL for the text of a column that may hold any character. Default: the column itself. */
  readonly textSql?: (column: string) => string;
  /** Reads a text that `textSql` selected. Default: the text itself. */
  readonly readText?: (value: string) => string;
  /**
   * The most ids in one statement; more ids are read with several statements. Default: no limit. D1 and Durable Objects take 100 parameters
   * in a statement.
   */
  readonly maxIds?: number;
}

/** Executions in tables of SQLite, for every database that speaks its SQL: `node:sqlite`, libSQL, D1, Durable Objects. */
export class SqliteTable implements ExecutionTable {
  readonly name: string;
  readonly features: ExecutionTable["features"];
  readonly grouping: SqliteTableOptions["grouping"];
  readonly lists: ListTable;
  readonly #session: SqliteSession;
  readonly #now: string;
  /** SQL that selects the column `id` of an execution as `name`. */
  readonly #id: string;
  /** SQL that selects the column `key` of a child or a record. */
  readonly #key: string;
  readonly #readText: (value: string) => string;
  readonly #guard: string;
  readonly #listed: string;
  readonly #due: DueTexts;
  readonly #planner: WritePlanner;
  readonly #maxIds: number;

  constructor(session: SqliteSession, options: SqliteTableOptions) {
    const { name, features, grouping, now, textSql = (column) => column, readText = (value) => value } = options;
    this.#maxIds = options.maxIds ?? Number.POSITIVE_INFINITY;
    this.name = name;
    this.features = features;
    this.grouping = grouping;
    this.#session = session;
    this.#now = now;
    this.#id = `${textSql("id")} AS name`;
    this.#key = `${textSql("key")} AS key`;
    this.#readText = readText;
    const texts = ["id", "incarnation", "owner", "permit_key"].map((column) => [column, textSql(column)]);
    const read: Readonly<Record<string, string>> = { ...Object.fromEntries(texts), status: "status", due_at: wholeSql(dueTime) };
    this.#guard = guardColumns.map((column) => `${read[column] ?? wholeSql(column)} AS ${column}`).join(", ");
    const listed = listedColumns.map((column) => (column.endsWith("_at") ? `${timeSql(column)} AS ${column}` : column));
    this.#listed = `${this.#guard}, ${listed.join(", ")}`;
    this.#due = dueTexts(now, this.#guard, textSql("permit_key"));
    this.#planner = new WritePlanner(now);
    this.lists = sqlLists<SqlValue>({
      from: "executions",
      byTime: {
        ended: "executions INDEXED BY executions_ended",
        deleted: "executions INDEXED BY executions_deleted",
        run: "executions INDEXED BY executions_run",
      },
      guard: this.#guard,
      ...{ listed: this.#listed, readable: areWhole },
      binder: bindTo,
      labelled: (label, values) => `instr(labels, ${bindTo(values)(label)}) > 0`,
      ask: (text, values) => this.#read(text, values),
      textOf: readText,
    });
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const text = `SELECT ${this.#now} AS now, ${this.#guard} FROM (SELECT 1) LEFT JOIN executions ON id IN`;
    const rows = await this.#readEach((list) => `${text} ${list}`, nonEmptyIds(ids));
    const guards = rows.filter(isWhole).map((row) => this.#guardOf(row));
    return { now: Number(rows[0]!.now), found: new Map(guards.map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): Promise<Map<string, StoredRows>> {
    // with CROSS JOIN, SQLite reads the execution first, and then its rows by their index
    const among = (table: string): string => `FROM executions AS e CROSS JOIN ${table} AS r ON r.execution = e.seq`;
    const textOf = (list: string): string => `
      SELECT seq, ${wholeSql("version")} AS place, ${this.#id}, status, head AS body FROM executions WHERE id IN ${list} AND deleted_at IS NULL
      UNION ALL SELECT seq, ${wholeSql("r.version")}, NULL, NULL, event ${among("events")} AND r.version > coalesce(checkpoint_version, -1) WHERE id IN ${list}
      UNION ALL SELECT seq, ${wholeSql("place")}, ${this.#key}, NULL, r.head ${among("children")} WHERE id IN ${list}`;
    return storedRowsOf(await this.#readEach(textOf, ids), this.#readText);
  }

  async heads(ids: readonly string[]): Promise<readonly ListedRow[]> {
    const text = `SELECT ${this.#listed} FROM executions WHERE deleted_at IS NULL AND id IN`;
    return (await this.#readEach((list) => `${text} ${list}`, ids)).filter(isWhole).map((row) => listedRowOf(row, this.#readText));
  }

  write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    const written = (row: SqlRow | null, index: number): RowWritten | null => {
      const write = writes[index]!;
      // a commit knows version and status, so they need not be read; a quick update does not return them
      const { version, status } = (write.kind === "update" && write.set.state) || (row ?? {});
      return row && { now: Number(row.now), version: Number(version), status: status as Status };
    };
    return this.#session.write(writes.map((write) => this.#planner.plan(write))).then((rows) => rows.map(written));
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    const text = `SELECT events.version, commit_id AS commitId, event
      FROM (SELECT seq FROM executions WHERE id = ?2) CROSS JOIN events
      WHERE execution = seq AND events.version > CAST(?3 AS INTEGER) ORDER BY events.version LIMIT ?4 + 0`;
    const rows = await this.#read(text, [id, afterVersion, limit]);
    return rows.map(({ version, commitId, event }) => ({ version: Number(version), commitId: commitId as string, text: event as string }));
  }

  async due({ keys, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const statements = keys
      ? keys.map((key) => ({ text: this.#due.ofKey, values: [overdueMs, limit, key] }))
      : [{ text: this.#due.plain, values: [overdueMs, limit] }];
    const found = await this.#session.read(statements);
    const longestDue = (rows: readonly SqlRow[]) =>
      rows
        .filter(isWhole)
        .map((row) => this.#guardOf(row))
        .sort(byDueTime)
        .slice(0, limit);
    const told = found[0]?.find(({ keyed_due }) => keyed_due)?.keyed_due;
    return { executions: found.flatMap(longestDue), keyedDue: (told ?? "none") as KeyedDue };
  }

  dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const keysOf = async (text: string, ...values: SqlValue[]) =>
      (await this.#read(text, [overdueMs, ...values])).map(({ key, permit_limit: limit, rows }) => ({
        ...{ key: this.#readText(key as string), limit: Number(limit), rows: Number(rows) },
      }));
    const { longestDueKeys, scanOfKeys } = this.#due;
    return findDueKeys({ longestDue: () => keysOf(longestDueKeys), scan: () => keysOf(scanOfKeys, after) }, after, limit);
  }

  async exempt(limit: number, overdueMs: number): Promise<readonly ExecutionGuard[]> {
    return (await this.#read(this.#due.exempt, [overdueMs, limit])).filter(isWhole).map((row) => this.#guardOf(row));
  }

  readonly records: ExecutionTable["records"] = {
    get: async (kind: RecordKind, keys: readonly string[]) => {
      const text = `SELECT ${this.#key}, revision, text FROM records WHERE kind = '${kind}' AND records.key IN`;
      const records = (await this.#readEach((list) => `${text} ${list}`, keys)) as unknown as readonly StoredRecord[];
      return new Map(
        records.map(({ key: keyText, revision, text }) => {
          const key = this.#readText(keyText);
          return [key, { key, revision, text }];
        }),
      );
    },
    put: async (kind: RecordKind, writes: readonly RecordWrite[]) => {
      const planned = writes.map((write) => ({ quickUpdate: null, full: () => recordStatement(kind, write), followUps: () => [] }));
      return (await this.#session.write(planned)).map((row) => row !== null);
    },
  };

  close(): Promise<void> {
    return this.#session.close();
  }

  async #read(text: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return (await this.#session.read([{ text, values }]))[0]!;
  }

  /**
   * Reads the rows of these ids with as many statements as needed, all of which see one state of the data.
   *
   * @param textOf returns the statement with a list of ids in parentheses
   */
  async #readEach(textOf: (list: string) => string, ids: readonly string[]): Promise<readonly SqlRow[]> {
    const statements: SqlStatement[] = [];
    let from = 0;
    do {
      const { list, values } = new Parameters();
      statements.push({ text: textOf(`(${list(ids.slice(from, from + this.#maxIds))})`), values });
      from += this.#maxIds;
    } while (from < ids.length);
    return (await this.#session.read(statements)).flat();
  }

  #guardOf(row: SqlRow): ExecutionGuard {
    return guardOf(row, this.#readText);
  }
}

function recordStatement(kind: RecordKind, { key, expected, next }: RecordWrite): SqlStatement {
  const which = "kind = ?2 AND key = ?3 AND revision = ?4";
  if (!next) return { text: `DELETE FROM records WHERE ${which} RETURNING 1`, values: [kind, key, expected] };
  if (expected !== null) {
    const text = `UPDATE records SET revision = ?5, text = ?6 WHERE ${which} RETURNING 1`;
    return { text, values: [kind, key, expected, next.revision, next.text] };
  }
  const text = "INSERT INTO records (kind, key, revision, text) VALUES (?2, ?3, ?4, ?5) ON CONFLICT (kind, key) DO NOTHING RETURNING 1";
  return { text, values: [kind, key, next.revision, next.text] };
}
