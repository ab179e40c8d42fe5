import type { Permit, Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { findDueKeys } from "../../kit/claims/due-keys.ts";
import type {
  DueExecutions,
  DueKey,
  DueKeys,
  DueQuery,
  EndedQuery,
  ExecutionGuard,
  ExecutionTable,
  RowWrite,
  RowWritten,
  StoredEvent,
} from "../../kit/execution-table.ts";
import type { ListCursor, ListedRow } from "../../kit/list.ts";
import type { RecordKind, RecordWrite, StoredRecord } from "../../kit/record-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { readDueAt } from "./due-column.ts";
import { dueSql, dueWindowSql, keyScanSql } from "./due-statements.ts";
import { type PlannedWrite, plannedWrite } from "./row-statements.ts";
import { Parameters, type SqlRow, type SqlStatement } from "./statement.ts";

/** How statements get to a database. */
export interface SqliteSession {
  /** What `?1` is: the time, or null where the database's own clock judges. */
  time(): EpochMs | null;
  /** Reads; each statement sees one state of the data. */
  read(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>;
  /** Makes writes in one transaction. For each the row that it gave; null: it was not made. */
  write(writes: readonly PlannedWrite[]): Promise<readonly (SqlRow | null)[]>;
  close(): Promise<void>;
}

/** What differs between SQLite and libSQL. */
export interface SqliteTableOptions extends Pick<ExecutionTable, "name" | "grouping"> {
  readonly features: StoreFeatures;
  /** What gives the time in a statement. */
  readonly now: string;
  /** What gives the text of a column that may hold any character, and how to read it. Default: the column. */
  readonly quoted?: (column: string) => string;
  readonly unquoted?: (value: string) => string;
}

/** Executions in tables of SQLite or libSQL. */
export class SqliteTable implements ExecutionTable {
  readonly name: string;
  readonly features: StoreFeatures;
  readonly grouping: NonNullable<ExecutionTable["grouping"]>;
  readonly #session: SqliteSession;
  readonly #now: string;
  readonly #quoted: (column: string) => string;
  readonly #unquoted: (value: string) => string;
  readonly #guard: string;

  constructor(session: SqliteSession, options: SqliteTableOptions) {
    const { name, features, grouping, now, quoted = (column) => column, unquoted = (value) => value } = options;
    this.name = name;
    this.features = features;
    this.grouping = grouping!;
    this.#session = session;
    this.#now = now;
    this.#quoted = quoted;
    this.#unquoted = unquoted;
    this.#guard = `seq, ${quoted("id")} AS id, incarnation, version, status, wake_at AS wakeAt, due_at AS dueAt, ${quoted("owner")} AS owner, fence,
      crashes, ${quoted("permit_key")} AS permitKey, permit_limit AS permitLimit, deleted_at AS deletedAt`;
  }

  async now(): Promise<EpochMs> {
    const [row] = await this.#read(`SELECT ${this.#now} AS now`);
    return Number(row!.now);
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const parameters = this.#parameters();
    const text = `SELECT ${this.#now} AS now, ${this.#guard} FROM (SELECT 1) LEFT JOIN executions ON id IN (${parameters.list(ids)})`;
    const rows = await this.#read(text, parameters);
    const guards = rows.filter(({ seq }) => seq !== null).map((row) => this.#guardOf(row));
    return { now: Number(rows[0]!.now), found: new Map(guards.map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): Promise<Map<string, StoredRows>> {
    const found = await this.#session.read(ids.map((id) => this.#loading(id)));
    return new Map(
      found.flatMap((rows, index): [string, StoredRows][] => {
        const [head, ...parts] = rows;
        if (!head) return [];
        const events = parts.filter(({ part }) => Number(part) === 1).map(({ text }) => text as string);
        const children = parts
          .filter(({ part }) => Number(part) === 2)
          .map(({ key, text }) => [this.#unquoted(key as string), text as string] as const);
        const { place: version, status, text } = head;
        return [
          [
            ids[index]!,
            { workflowId: ids[index]!, version: Number(version), status: status as Status, head: text as string, events, children },
          ],
        ];
      }),
    );
  }

  async write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    const time = this.#session.time();
    const rows = await this.#session.write(writes.map((write) => plannedWrite(write, time, this.#now)));
    return rows.map((row) => row && { now: Number(row.now), version: Number(row.version), status: row.status as Status });
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    const parameters = this.#parameters();
    const { bind } = parameters;
    const text = `SELECT events.version, commit_id AS commitId, event FROM (SELECT seq FROM executions WHERE id = ${bind(id)}) CROSS JOIN events
      WHERE execution = seq AND events.version > CAST(${bind(afterVersion)} AS INTEGER) ORDER BY events.version LIMIT ${bind(limit)}`;
    const rows = await this.#read(text, parameters);
    return rows.map(({ version, commitId, event }) => ({ version: Number(version), commitId: commitId as string, text: event as string }));
  }

  async due({ key, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const parameters = this.#parameters();
    const rows = await this.#read(dueSql(parameters, this.#now, this.#guard, { key, limit, overdueMs }), parameters);
    const executions = rows.filter(({ seq }) => seq !== null).map((row) => this.#guardOf(row));
    return { executions, areKeysDue: Number(rows[0]!.areKeysDue) === 1 };
  }

  dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const [window, scan] = [this.#parameters(), this.#parameters()];
    const search = {
      longestDue: () => this.#keys(dueWindowSql(window, this.#now, overdueMs), window),
      scan: () => this.#keys(keyScanSql(scan, this.#now, after, overdueMs), scan),
    };
    return findDueKeys(search, after, limit);
  }

  async page(query: CheckedQuery, labels: readonly string[], after: ListCursor | null, limit: number): Promise<ListedRow[]> {
    const { status, definitionId, createdBefore, createdAfter } = query;
    const parameters = this.#parameters();
    const { bind } = parameters;
    const conditions = [
      "deleted_at IS NULL",
      ...(status ? [`status IN (${parameters.list(status)})`] : []),
      ...(definitionId === undefined ? [] : [`definition_id = ${bind(definitionId)}`]),
      ...(createdBefore === undefined ? [] : [`created_at < ${bind(createdBefore)}`]),
      ...(createdAfter === undefined ? [] : [`created_at > ${bind(createdAfter)}`]),
      ...labels.map((label) => `EXISTS (SELECT 1 FROM json_each(labels) AS label WHERE label.value = ${bind(label)})`),
      ...(after ? [`(created_at, seq) < (${bind(after.createdAt)}, ${bind(after.seq)})`] : []),
    ];
    const text = `SELECT ${this.#guard}, definition, metadata, head, created_at AS createdAt, updated_at AS updatedAt FROM executions
      WHERE ${conditions.join(" AND ")} ORDER BY created_at DESC, seq DESC LIMIT ${bind(limit)}`;
    const rows = await this.#read(text, parameters);
    return rows.map((row) => {
      const guard = this.#guardOf(row);
      const { definition, metadata, head } = row as Record<string, string>;
      const times = { createdAt: Number(row.createdAt), updatedAt: Number(row.updatedAt) };
      return {
        ...guard,
        ...times,
        definition: definition!,
        metadata: metadata!,
        head: head!,
        leaseUntil: guard.owner === null ? null : guard.dueAt,
      };
    });
  }

  async ended({ before, limit, ended }: EndedQuery): Promise<ExecutionGuard[]> {
    const parameters = this.#parameters();
    const { bind } = parameters;
    const time = ended ? "ended_at" : "deleted_at";
    const conditions = [
      `${time} < ${bind(before)}`,
      ...(ended ? [`status IN (${parameters.list(ended.statuses)})`] : []),
      ...(ended?.definitionId == null ? [] : [`definition_id = ${bind(ended.definitionId)}`]),
    ];
    // by time, whatever else is asked: a prune takes the oldest first
    const text = `SELECT ${this.#guard} FROM executions INDEXED BY executions_${ended ? "ended" : "deleted"}
      WHERE ${conditions.join(" AND ")} ORDER BY ${time}, seq LIMIT ${bind(limit)}`;
    return (await this.#read(text, parameters)).map((row) => this.#guardOf(row));
  }

  readonly records: ExecutionTable["records"] = {
    get: async (kind: RecordKind, keys: readonly string[]) => {
      const parameters = this.#parameters();
      const text = `SELECT ${this.#quoted("key")} AS key, revision, text FROM records WHERE kind = ${parameters.bind(kind)} AND key IN (${parameters.list(keys)})`;
      const rows = (await this.#read(text, parameters)).map(
        (row) => ({ ...row, key: this.#unquoted(row.key as string) }) as unknown as StoredRecord,
      );
      return new Map(rows.map((record) => [record.key, record]));
    },
    put: async (kind: RecordKind, writes: readonly RecordWrite[]) => {
      const rows = await this.#session.write(writes.map((write) => ({ attempts: [recordStatement(kind, write)], followUps: () => [] })));
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

  /** Head, history and children in one statement, so of one version. */
  #loading(id: string): SqlStatement {
    const { bind, values } = this.#parameters();
    const one = bind(id);
    const seq = `(SELECT seq FROM executions WHERE id = ${one})`;
    const text = `
      SELECT 0 AS part, version AS place, status, NULL AS key, head AS text FROM executions WHERE id = ${one} AND deleted_at IS NULL
      UNION ALL SELECT 1, version, NULL, NULL, event FROM events WHERE execution = ${seq}
      UNION ALL SELECT 2, place, NULL, ${this.#quoted("key")}, head FROM children WHERE execution = ${seq} ORDER BY part, place`;
    return { text, values };
  }

  /** Keys and limits of rows. */
  async #keys(rows: string, parameters: Parameters): Promise<DueKey[]> {
    const found = await this.#read(`SELECT ${this.#quoted("permit_key")} AS key, permit_limit AS places FROM (${rows})`, parameters);
    return found.map(({ key, places }) => ({ key: this.#unquoted(key as string), limit: Number(places) }));
  }

  #guardOf(row: SqlRow): ExecutionGuard {
    const { id, incarnation, status, owner, permitKey, permitLimit } = row as Record<string, string | null>;
    const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));
    const text = (value: string | null): string | null => (value === null ? null : this.#unquoted(value));
    return {
      id: this.#unquoted(id!),
      seq: Number(row.seq),
      incarnation: incarnation!,
      version: Number(row.version),
      status: status as Status,
      wakeAt: numberOrNull(row.wakeAt),
      dueAt: readDueAt(numberOrNull(row.dueAt)),
      owner: text(owner!),
      fence: Number(row.fence),
      crashes: Number(row.crashes),
      permit: permitLimit === null ? null : ({ key: text(permitKey!), limit: Number(permitLimit) } as Permit),
      deletedAt: numberOrNull(row.deletedAt),
    };
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
