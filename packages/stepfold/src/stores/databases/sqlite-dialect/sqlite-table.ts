import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { findDueKeys } from "../../kit/claims/due-keys.ts";
import { endedTerms, guardColumns, guardOf, listedColumns, listedRowOf, pageTerms, termsSql } from "../../kit/columns.ts";
import type * as kit from "../../kit/execution-table.ts";
import type { RecordKind, RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { byDueTime } from "../../kit/row-rules.ts";
import { readDueAt } from "./due-column.ts";
import { areKeysDueStatement, type DueClock, dueKeysSql, dueStatements, rowsDueFirst, scanOfKeys } from "./due-statements.ts";
import { type PlannedWrite, WritePlanner } from "./row-statements.ts";
import { Parameters, type SqlRow, type SqlStatement } from "./statement.ts";

/** How statements get to a database. */
export interface SqliteSession {
  /** What `?1` is: the time, or null where the database's own clock judges. */
  time(): EpochMs | null;
  /** Reads; all statements see one state of the data. */
  read(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>;
  /** Makes writes in one transaction. For each the row that it gave; null: it was not made. */
  write(writes: readonly PlannedWrite[]): Promise<readonly (SqlRow | null)[]>;
  close(): Promise<void>;
}

/** What differs between SQLite and libSQL. */
export interface SqliteTableOptions extends Pick<kit.ExecutionTable, "name" | "grouping"> {
  readonly features: StoreFeatures;
  /** What gives the time in a statement. */
  readonly now: string;
  /** What gives the text of a column that may hold any character, and how to read it. Default: the column. */
  readonly quoted?: (column: string) => string;
  readonly unquoted?: (value: string) => string;
}

/** Executions in tables of SQLite or libSQL. */
export class SqliteTable implements kit.ExecutionTable {
  readonly name: string;
  readonly features: StoreFeatures;
  readonly grouping: NonNullable<kit.ExecutionTable["grouping"]>;
  readonly #session: SqliteSession;
  readonly #now: string;
  readonly #quoted: (column: string) => string;
  readonly #unquoted: (value: string) => string;
  readonly #guard: string;
  readonly #planner: WritePlanner;

  constructor(session: SqliteSession, options: SqliteTableOptions) {
    const { name, features, grouping, now, quoted = (column) => column, unquoted = (value) => value } = options;
    this.name = name;
    this.features = features;
    this.grouping = grouping!;
    this.#session = session;
    this.#now = now;
    this.#planner = new WritePlanner(now);
    this.#quoted = quoted;
    this.#unquoted = unquoted;
    const texts = ["id", "incarnation", "owner", "permit_key"];
    this.#guard = guardColumns.map((name) => (texts.includes(name) ? `${quoted(name)} AS ${name}` : name)).join(", ");
  }

  async now(): Promise<EpochMs> {
    const [row] = await this.#read(`SELECT ${this.#now} AS now`);
    return Number(row!.now);
  }

  async read(ids: readonly string[]): ReturnType<kit.ExecutionTable["read"]> {
    const parameters = this.#parameters();
    const text = `SELECT ${this.#now} AS now, ${this.#guard} FROM (SELECT 1) LEFT JOIN executions ON id IN (${parameters.list(ids)})`;
    const rows = await this.#read(text, parameters);
    const guards = rows.filter(({ seq }) => seq !== null).map((row) => this.#guardOf(row));
    return { now: Number(rows[0]!.now), found: new Map(guards.map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): Promise<Map<string, StoredRows>> {
    const found = await this.#session.read(ids.flatMap((id) => this.#loading(id)));
    return new Map(
      ids.flatMap((workflowId, index): [string, StoredRows][] => {
        const [[head], events, children] = found.slice(index * 3, index * 3 + 3) as [
          readonly SqlRow[],
          readonly SqlRow[],
          readonly SqlRow[],
        ];
        if (!head) return [];
        const stored = {
          workflowId,
          version: Number(head.version),
          status: head.status as Status,
          head: head.head as string,
          events: events.map(({ event }) => event as string),
          children: children.map(({ key, head }) => [this.#unquoted(key as string), head as string] as const),
        };
        return [[workflowId, stored]];
      }),
    );
  }

  async write(writes: readonly kit.RowWrite[]): Promise<(kit.RowWritten | null)[]> {
    const time = this.#session.time();
    const rows = await this.#session.write(writes.map((write) => this.#planner.plan(write, time)));
    return rows.map((row, index) => {
      const write = writes[index]!;
      // what was written need not be read
      const { version, status } = (write.kind === "update" && write.set.state) || (row ?? {});
      return row && { now: Number(row.now), version: Number(version), status: status as Status };
    });
  }

  async events(id: string, afterVersion: number, limit: number): Promise<kit.StoredEvent[]> {
    const parameters = this.#parameters();
    const { bind } = parameters;
    const text = `SELECT events.version, commit_id AS commitId, event FROM (SELECT seq FROM executions WHERE id = ${bind(id)}) CROSS JOIN events
      WHERE execution = seq AND events.version > CAST(${bind(afterVersion)} AS INTEGER) ORDER BY events.version LIMIT ${bind(limit)}`;
    const rows = await this.#read(text, parameters);
    return rows.map(({ version, commitId, event }) => ({ version: Number(version), commitId: commitId as string, text: event as string }));
  }

  async due({ keys, limit, overdueMs }: kit.DueQuery): Promise<kit.DueExecutions> {
    const when = this.#when(overdueMs);
    const lists = (keys ?? [null]).map((key) =>
      dueStatements(when, (isDue, bind) =>
        rowsDueFirst(this.#guard, key === null ? "permit_key IS NULL" : `permit_key = ${bind(key)}`, isDue, bind(limit)),
      ),
    );
    const found = await this.#session.read([...lists.flat(), ...(keys ? [] : [areKeysDueStatement(when)])]);
    const executions = lists.flatMap((_, index) => {
      const rows = found.slice(index * 2, index * 2 + 2).flat();
      return rows
        .map((row) => this.#guardOf(row))
        .sort(byDueTime)
        .slice(0, limit);
    });
    return { executions, areKeysDue: keys !== null || Number(found[2]![0]!.areKeysDue) === 1 };
  }

  dueKeys(after: string, limit: number, overdueMs: number): Promise<kit.DueKeys> {
    const when = this.#when(overdueMs);
    const columns = `${this.#quoted("permit_key")} AS key, permit_limit AS most`;
    const keysIn = (rows: readonly SqlRow[]) =>
      rows.map((row) => ({ key: this.#unquoted(row.key as string), limit: Number(row.most), rows: Number(row.rows) }));
    const longestDue = async () => {
      const rows = (await this.#session.read(dueStatements(when, (isDue, bind) => dueKeysSql(columns, isDue, bind)))).flat();
      return keysIn(rows.sort((a, b) => readDueAt(Number(a.due_at))! - readDueAt(Number(b.due_at))!));
    };
    const scan = async () => keysIn((await this.#session.read([scanOfKeys(when, columns, after)]))[0]!);
    return findDueKeys({ longestDue, scan }, after, limit);
  }

  async page(query: CheckedQuery, labels: readonly string[], after: kit.ListCursor | null, limit: number): Promise<kit.ListedRow[]> {
    const parameters = this.#parameters();
    const { bind } = parameters;
    const conditions = [
      termsSql(pageTerms(query), bind),
      ...labels.map((label) => `EXISTS (SELECT 1 FROM json_each(labels) AS label WHERE label.value = ${bind(label)})`),
      ...(after ? [`(created_at, seq) < (${bind(after.createdAt)}, ${bind(after.seq)})`] : []),
    ];
    const text = `SELECT ${this.#guard}, ${listedColumns.join(", ")} FROM executions
      WHERE ${conditions.join(" AND ")} ORDER BY created_at DESC, seq DESC LIMIT ${bind(limit)}`;
    const rows = await this.#read(text, parameters);
    return rows.map((row) => ({ ...listedRowOf(row), ...this.#guardOf(row) }));
  }

  async ended(query: kit.EndedQuery): Promise<kit.ExecutionGuard[]> {
    const parameters = this.#parameters();
    const { bind } = parameters;
    const name = query.ended ? "ended" : "deleted";
    // by time, whatever else is asked: a prune takes the oldest first
    const text = `SELECT ${this.#guard} FROM executions INDEXED BY executions_${name}
      WHERE ${termsSql(endedTerms(query), bind)} ORDER BY ${name}_at, seq LIMIT ${bind(query.limit)}`;
    return (await this.#read(text, parameters)).map((row) => this.#guardOf(row));
  }

  readonly records: kit.ExecutionTable["records"] = {
    get: async (kind: RecordKind, keys: readonly string[]) => {
      const parameters = this.#parameters();
      const text = `SELECT ${this.#quoted("key")} AS key, revision, text FROM records WHERE kind = ${parameters.bind(kind)} AND key IN (${parameters.list(keys)})`;
      const rows = (await this.#read(text, parameters)).map(
        (row) => ({ ...row, key: this.#unquoted(row.key as string) }) as unknown as StoredRecord,
      );
      return new Map(rows.map((record) => [record.key, record]));
    },
    put: async (kind: RecordKind, writes: readonly RecordWrite[]) => {
      const rows = await this.#session.write(
        writes.map((write) => ({ quick: null, whole: () => recordStatement(kind, write), followUps: () => [] })),
      );
      return rows.map((row) => row !== null);
    },
  };

  close(): Promise<void> {
    return this.#session.close();
  }

  #parameters(): Parameters {
    return new Parameters(this.#session.time());
  }

  async #read(text: string, { values }: Parameters = this.#parameters()): Promise<readonly SqlRow[]> {
    return (await this.#session.read([{ text, values }]))[0]!;
  }

  /** Head, history and children. */
  #loading(id: string): SqlStatement[] {
    const seq = "(SELECT seq FROM executions WHERE id = ?2)";
    const texts = [
      "SELECT version, status, head FROM executions WHERE id = ?2 AND deleted_at IS NULL",
      `SELECT event FROM events WHERE execution = ${seq} ORDER BY version`,
      `SELECT ${this.#quoted("key")} AS key, head FROM children WHERE execution = ${seq} ORDER BY place`,
    ];
    return texts.map((text) => ({ text, values: [null, id] }));
  }

  #when(overdueMs: number): DueClock {
    return { now: this.#now, time: this.#session.time(), overdueMs };
  }

  #guardOf(row: SqlRow): kit.ExecutionGuard {
    const guard = guardOf(row, this.#unquoted);
    return { ...guard, dueAt: readDueAt(guard.dueAt) };
  }
}

function recordStatement(kind: RecordKind, { key, expected, next }: RecordWrite): SqlStatement {
  const { bind, values } = new Parameters(null);
  const which = (): string => `kind = ${bind(kind)} AND key = ${bind(key)} AND revision = ${bind(expected)}`;
  if (!next) return { text: `DELETE FROM records WHERE ${which()} RETURNING 1`, values };
  const text =
    expected === null
      ? `INSERT INTO records (kind, key, revision, text) VALUES (${bind(kind)}, ${bind(key)}, ${bind(next.revision)}, ${bind(next.text)})
      ON CONFLICT (kind, key) DO NOTHING RETURNING 1`
      : `UPDATE records SET revision = ${bind(next.revision)}, text = ${bind(next.text)} WHERE ${which()} RETURNING 1`;
  return { text, values };
}
