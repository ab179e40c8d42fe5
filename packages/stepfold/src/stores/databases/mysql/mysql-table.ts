import type { EpochMs } from "../../../core/values/json.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import type {
  DueExecutions,
  DueKeys,
  DueQuery,
  EndedQuery,
  ExecutionGuard,
  ExecutionTable,
  RowWrite,
  RowWritten,
  StoredEvent,
} from "../../kit/execution-table.ts";
import { labelsOf } from "../../kit/labels.ts";
import type { ListCursor, ListedRow } from "../../kit/list.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { groupCommit } from "../../kit/writing/group-commit.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { isOutage } from "./mysql-error.ts";
import { claimDue } from "./mysql-fast.ts";
import { recordsOf } from "./mysql-records.ts";
import {
  dueStatement,
  endedStatement,
  guardColumns,
  guardOf,
  keyRowsTogether,
  keysStatement,
  listedColumns,
  listedRow,
  loadStatement,
  storedRows,
  waitingStatement,
  waitingTogether,
} from "./mysql-rows.ts";
import { prepared, type TablesOptions } from "./mysql-schema.ts";
import { changing, connected, numberOf, type Row, reading, type SqlValue, textOf, writing } from "./mysql-session.ts";
import { among, clock, type Tables, tablesOf } from "./mysql-statement.ts";
import { refuseLongNames, writeRows } from "./mysql-write.ts";

/** Executions in the tables of MySQL or MariaDB. */
export class MysqlTable implements ExecutionTable {
  readonly name = "mysql";
  readonly features: StoreFeatures;
  readonly clockSkewMs = 0;
  readonly records: ExecutionTable["records"];
  readonly grouping: NonNullable<ExecutionTable["grouping"]> = { maxWrites: 100, isOutage };
  readonly #pool: MysqlPool;
  readonly #tables: Tables;
  /** Gives the most bytes that the values of one statement may have. */
  readonly #ready: () => Promise<number>;
  /** What is asked for while others are being read is read together, so that loads leave connections to those who write. */
  readonly #loads = groupCommit<{ readonly id: string; readonly ticket: string }, StoredRows | undefined>({
    send: async (asked) => {
      const found = await this.#load(asked.map(({ id }) => id));
      return asked.map(({ id }) => found.get(id));
    },
    // of one execution several may be read at once
    idOf: ({ ticket }) => ticket,
    isOutage,
    maxWrites: 32,
  });
  #tickets = 0;

  constructor(options: TablesOptions) {
    this.features = { clock: "store", durable: true, multiProcess: true, maxValueBytes: options.maxValueBytes, permits: true };
    this.#pool = options.pool;
    this.#tables = tablesOf(options.prefix);
    this.#ready = prepared(options);
    this.records = recordsOf(options, this.#ready);
  }

  async now(): Promise<EpochMs> {
    const [row] = await this.#look(`SELECT ${clock}`);
    return numberOf(row![0]);
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const { text, values } = among(ids);
    const nothing = guardColumns.replaceAll(/\w+/g, "NULL");
    const [first, ...rows] = await this.#rows(
      // the clock also where no row is found
      `SELECT ${clock}, ${nothing} UNION ALL SELECT NULL, ${guardColumns} FROM ${this.#tables.executions} FORCE INDEX (ids) WHERE id ${text}`,
      values,
    );
    return { now: numberOf(first![0]), found: new Map(rows.map((row) => guardOf(row.slice(1))).map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    if (ids.length > 1) return this.#load(ids);
    const [id] = ids as [string];
    const rows = await this.#loads.add({ id, ticket: `${++this.#tickets}` });
    return new Map(rows && [[id, rows]]);
  }

  async write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    for (const write of writes) refuseLongNames(write);
    const maxBytes = await this.#ready();
    // an update locks rows that are there, by their ids
    const transaction = writes.every(({ kind }) => kind === "update") ? changing : writing;
    return transaction(this.#pool, (session) => writeRows(session, this.#tables, writes, maxBytes));
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    const { executions, events } = this.#tables;
    const rows = await this.#rows(
      `SELECT v.version, v.commit_id, CAST(v.event AS BINARY) FROM ${executions} AS e STRAIGHT_JOIN ${events} AS v ON v.execution = e.seq
      WHERE e.id = ? AND v.version > ? ORDER BY v.version LIMIT ?`,
      [id, afterVersion, limit],
    );
    return rows.map(([version, commitId, text]) => ({ version: numberOf(version), commitId: textOf(commitId), text: textOf(text) }));
  }

  async due({ key, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const values = [...(key === null ? [] : [key]), overdueMs, limit];
    const rows = await this.#look(dueStatement(this.#tables, key, guardColumns), values);
    return { executions: rows.map(guardOf), areKeysDue: true };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    // however many sleep, they are not looked at while few are due
    const waiting = await this.#look(waitingStatement(this.#tables), [overdueMs]);
    const isAll = waiting.length < waitingTogether;
    const isBehind = ([key]: Row): boolean => Buffer.compare(Buffer.from(textOf(key)), Buffer.from(after)) > 0;
    const rows = isAll ? waiting.filter(isBehind) : await this.#look(keysStatement(this.#tables), [overdueMs, after]);
    const firsts = new Map<string, Row>();
    for (const row of rows) if (!firsts.has(textOf(row[0]))) firsts.set(textOf(row[0]), row);
    const due = [...firsts].filter(([, row]) => numberOf(row[2]) === 1).map(([key, row]) => ({ key, limit: numberOf(row[1]) }));
    const keys = due.slice(0, limit);
    // goes on behind the last key that was seen, however many more wait for it
    const next = isAll || rows.length < keyRowsTogether ? null : textOf(rows.at(-1)![0]);
    return { keys, next: keys.length < due.length ? keys.at(-1)!.key : next };
  }

  async claimDue(claim: Parameters<typeof claimDue>[2]): ReturnType<typeof claimDue> {
    await this.#ready();
    return claimDue(this.#pool, this.#tables, claim);
  }

  async page(query: CheckedQuery, labels: readonly string[], after: ListCursor | null, limit: number): Promise<ListedRow[]> {
    const { conditions, values } = listConditions(query);
    const statement = `SELECT ${listedColumns} FROM ${this.#tables.executions}
      WHERE ${[...conditions, "created_at <= ?", "(created_at < ? OR seq < ?)"].join(" AND ")} ORDER BY created_at DESC, seq DESC LIMIT ?`;
    const found: ListedRow[] = [];
    for (let from = after ?? { createdAt: Number.MAX_SAFE_INTEGER, seq: 0 }; ; ) {
      const wanted = limit - found.length;
      const rows = (await this.#rows(statement, [...values, from.createdAt, from.createdAt, from.seq, wanted])).map(listedRow);
      found.push(...rows.filter((row) => hasLabels(row, labels)));
      if (found.length === limit || rows.length < wanted) return found;
      from = rows.at(-1)!;
    }
  }

  async ended({ before, limit, ended }: EndedQuery): Promise<ExecutionGuard[]> {
    const statement = endedStatement(this.#tables, ended);
    const values = ended ? [...ended.statuses, ...(ended.definitionId === null ? [] : [ended.definitionId])] : [];
    return (await this.#rows(statement, [before, ...values, limit])).map(guardOf);
  }

  async close(): Promise<void> {}

  async #load(ids: readonly string[]): Promise<ReadonlyMap<string, StoredRows>> {
    const { text, values } = among(ids);
    return storedRows(await this.#rows(loadStatement(this.#tables, text), [...values, ...values, ...values]));
  }

  /** Reads what is committed. */
  async #rows(sql: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    await this.#ready();
    return reading(this.#pool, sql, values);
  }

  /** Reads what a write will judge again, so that it may be what others have not committed yet. */
  async #look(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]> {
    await this.#ready();
    return connected(this.#pool, (session) => session.rows(sql, values));
  }
}

/** A query as SQL. Text comes only from here; what the caller gave is bound. */
function listConditions({ status, definitionId, createdBefore, createdAfter, metadata }: CheckedQuery): {
  readonly conditions: readonly string[];
  readonly values: readonly SqlValue[];
} {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, ...bound: SqlValue[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  if (status) add(`status IN (${["NULL", ...status.map(() => "?")].join(", ")})`, ...status);
  if (definitionId !== undefined) add("definition_id = ?", definitionId);
  if (createdBefore !== undefined) add("created_at < ?", createdBefore);
  if (createdAfter !== undefined) add("created_at > ?", createdAfter);
  for (const [key, value] of Object.entries(metadata ?? {})) {
    // metadata is stored as `JSON.stringify` wrote it, so this text is in it; `hasLabels` tells where
    add("LOCATE(?, CAST(metadata AS BINARY)) > 0", `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  return { conditions, values };
}

/** Judged here: the servers' JSON functions differ in how deep they read and in what equals what. */
function hasLabels({ metadata }: ListedRow, labels: readonly string[]): boolean {
  if (labels.length === 0) return true;
  try {
    const own = labelsOf(JSON.parse(metadata));
    return labels.every((label) => own.includes(label));
  } catch {
    return false;
  }
}
