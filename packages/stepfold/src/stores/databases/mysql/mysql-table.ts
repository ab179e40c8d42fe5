import type { EpochMs } from "../../../core/values/json.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { findDueKeys } from "../../kit/claims/due-keys.ts";
import { pageTerms } from "../../kit/columns.ts";
import type * as kit from "../../kit/execution-table.ts";
import { labelsOf } from "../../kit/labels.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import { groupCommit } from "../../kit/writing/group-commit.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { isOutageForAll } from "./mysql-error.ts";
import { claimDue } from "./mysql-fast.ts";
import { recordsOf } from "./mysql-records.ts";
import {
  conditionsOf,
  dueStatement,
  endedStatement,
  guardIn,
  guardSql,
  keyedWindowStatement,
  keyScanStatement,
  listedRowIn,
  listedSql,
  loadStatement,
  storedRows,
} from "./mysql-rows.ts";
import { prepared, type TablesOptions } from "./mysql-schema.ts";
import { changing, columnText, committedRows, connected, inTransaction, type MysqlValue, numberOf, type Row } from "./mysql-session.ts";
import { among, clock, type Tables, tablesOf } from "./mysql-statement.ts";
import { refuseLongNames, writeRows } from "./mysql-write.ts";

/** Executions in the tables of MySQL or MariaDB. */
export class MysqlTable implements kit.ExecutionTable {
  readonly name = "mysql";
  readonly features: StoreFeatures;
  readonly records: kit.ExecutionTable["records"];
  readonly grouping: NonNullable<kit.ExecutionTable["grouping"]> = { maxWrites: 100, isOutage: isOutageForAll };
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
    isOutage: isOutageForAll,
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

  async read(ids: readonly string[]): ReturnType<kit.ExecutionTable["read"]> {
    const { text, values } = among(ids);
    const nothing = guardSql.replaceAll(/\w+/g, "NULL");
    const [first, ...rows] = await this.#rows(
      // the clock also where no row is found
      `SELECT ${clock}, ${nothing} UNION ALL SELECT NULL, ${guardSql} FROM ${this.#tables.executions} FORCE INDEX (ids) WHERE id ${text}`,
      values,
    );
    return { now: numberOf(first![0]), found: new Map(rows.map((row) => guardIn(row.slice(1))).map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): ReturnType<kit.ExecutionTable["load"]> {
    if (ids.length > 1) return this.#load(ids);
    const [id] = ids as [string];
    const rows = await this.#loads.add({ id, ticket: `${++this.#tickets}` });
    return new Map(rows && [[id, rows]]);
  }

  async write(writes: readonly kit.RowWrite[]): Promise<(kit.RowWritten | null)[]> {
    for (const write of writes) refuseLongNames(write);
    const maxBytes = await this.#ready();
    // an update locks rows that are there, by their ids
    const transaction = writes.every(({ kind }) => kind === "update") ? changing : inTransaction;
    return transaction(this.#pool, (session) => writeRows(session, this.#tables, writes, maxBytes));
  }

  async events(id: string, afterVersion: number, limit: number): Promise<kit.StoredEvent[]> {
    const { executions, events } = this.#tables;
    const rows = await this.#rows(
      `SELECT v.version, v.commit_id, CAST(v.event AS BINARY) FROM ${executions} AS e STRAIGHT_JOIN ${events} AS v ON v.execution = e.seq
      WHERE e.id = ? AND v.version > ? ORDER BY v.version LIMIT ?`,
      [id, afterVersion, limit],
    );
    return rows.map(([version, commitId, text]) => ({
      version: numberOf(version),
      commitId: columnText(commitId),
      text: columnText(text),
    }));
  }

  async due({ keys, limit, overdueMs }: kit.DueQuery): Promise<kit.DueExecutions> {
    const asked = (keys ?? [null]).map((key) => ({ text: `(${dueStatement(this.#tables, key, guardSql)})`, key }));
    const values = asked.flatMap(({ key }) => [...(key === null ? [] : [key]), overdueMs, limit]);
    const rows = await this.#look(asked.map(({ text }) => text).join(" UNION ALL "), values);
    return { executions: rows.map(guardIn), areKeysDue: true };
  }

  dueKeys(after: string, limit: number, overdueMs: number): Promise<kit.DueKeys> {
    const keys = async (statement: string, values: readonly MysqlValue[]): Promise<kit.DueKey[]> =>
      (await this.#look(statement, values)).map(([key, most]) => ({ key: columnText(key), limit: numberOf(most) }));
    const search = {
      longestDue: () => keys(keyedWindowStatement(this.#tables), [overdueMs]),
      scan: () => keys(keyScanStatement(this.#tables), [overdueMs, after]),
    };
    return findDueKeys(search, after, limit);
  }

  async claimDue(claim: Parameters<typeof claimDue>[2]): ReturnType<typeof claimDue> {
    await this.#ready();
    return claimDue(this.#pool, this.#tables, claim);
  }

  async page(query: CheckedQuery, labels: readonly string[], after: kit.ListCursor | null, limit: number): Promise<kit.ListedRow[]> {
    // tombstones have no `created_at`; to ask for `deleted_at` too would make the servers look at its index
    const { text, values, bind } = conditionsOf(pageTerms(query).filter(({ column }) => column !== "deleted_at"));
    // metadata is stored as `JSON.stringify` wrote it, so this text is in it; `hasLabels` tells where
    const parts = Object.entries(query.metadata ?? {}).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    const labelled = parts.map((part) => `LOCATE(${bind(part)}, CAST(metadata AS BINARY)) > 0`);
    const statement = `SELECT ${listedSql} FROM ${this.#tables.executions}
      WHERE ${[text, ...labelled, "created_at <= ?"].filter(Boolean).join(" AND ")} AND (created_at < ? OR seq < ?) ORDER BY created_at DESC, seq DESC LIMIT ?`;
    const found: kit.ListedRow[] = [];
    for (let from = after ?? { createdAt: Number.MAX_SAFE_INTEGER, seq: 0 }; ; ) {
      const wanted = limit - found.length;
      const rows = (await this.#rows(statement, [...values, from.createdAt, from.createdAt, from.seq, wanted])).map(listedRowIn);
      found.push(...rows.filter((row) => hasLabels(row, labels)));
      if (found.length === limit || rows.length < wanted) return found;
      from = rows.at(-1)!;
    }
  }

  async ended(query: kit.EndedQuery): Promise<kit.ExecutionGuard[]> {
    const { text, values } = endedStatement(this.#tables, query);
    return (await this.#rows(text, values)).map(guardIn);
  }

  async close(): Promise<void> {}

  async #load(ids: readonly string[]): Promise<ReadonlyMap<string, StoredRows>> {
    const { text, values } = among(ids);
    return storedRows(await this.#rows(loadStatement(this.#tables, text), [...values, ...values, ...values]));
  }

  /** Reads what is committed. */
  async #rows(sql: string, values: readonly MysqlValue[]): Promise<readonly Row[]> {
    await this.#ready();
    return committedRows(this.#pool, sql, values);
  }

  /** Reads what a later write compares again: it does no harm if another transaction takes it back. */
  async #look(sql: string, values?: readonly MysqlValue[]): Promise<readonly Row[]> {
    await this.#ready();
    return connected(this.#pool, (session) => session.rows(sql, values));
  }
}

/** Judged here: the servers' JSON functions differ in how deep they read and in what equals what. */
function hasLabels({ metadata }: kit.ListedRow, labels: readonly string[]): boolean {
  if (labels.length === 0) return true;
  try {
    const own = labelsOf(JSON.parse(metadata));
    return labels.every((label) => own.includes(label));
  } catch {
    return false;
  }
}
