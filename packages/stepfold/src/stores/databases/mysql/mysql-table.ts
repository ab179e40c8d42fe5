import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import { findDueKeys } from "../../kit/claims/due-keys.ts";
import { guardOf, isWhole, listedRowOf, nonEmptyIds, storedRowsOf } from "../../kit/columns.ts";
import type { ExecutionGuard, RowAnswer, RowWrite, StoredEvent } from "../../kit/execution-rows.ts";
import type { DueClaimed, DueExecutions, DueKey, DueKeys, DueQuery, ExecutionTable } from "../../kit/execution-table.ts";
import type { ListedRow, ListTable } from "../../kit/lists/list-table.ts";
import { lockLimitOf } from "../../kit/lock-limit.ts";
import { failsForEveryWrite } from "./mysql-error.ts";
import { claimDue, type DueClaim } from "./mysql-fast.ts";
import { recordsOf } from "./mysql-records.ts";
import * as statements from "./mysql-rows.ts";
import { OpenTables, type TablesOptions } from "./mysql-schema.ts";
import { type MysqlValue, maxLockMs } from "./mysql-session.ts";
import { clock, inList, type Tables } from "./mysql-statement.ts";
import { refuseLongNames, writeRows } from "./mysql-write.ts";

const { guardSql } = statements;

/** Executions in the tables of MySQL or MariaDB. */
export class MysqlTable implements ExecutionTable {
  readonly name = "mysql";
  readonly features: StoreFeatures;
  readonly records: ExecutionTable["records"];
  readonly lists: ListTable;
  readonly grouping: NonNullable<ExecutionTable["grouping"]> = { maxWrites: 100, isOutage: failsForEveryWrite };
  readonly lockLimit: ExecutionTable["lockLimit"];
  readonly #open: OpenTables;
  readonly #tables: Tables;

  constructor(options: TablesOptions) {
    this.features = { clock: "store", durable: true, multiProcess: true, maxValueBytes: options.maxValueBytes, permits: true };
    this.#open = new OpenTables(options);
    this.lockLimit = lockLimitOf(options.pool, maxLockMs);
    this.#tables = this.#open.tables;
    this.records = recordsOf(this.#open, options.maxValueBytes);
    this.lists = statements.listsOf(this.#tables, (text, values) => this.#open.send("read", text, values));
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const { text, values } = inList(nonEmptyIds(ids));
    const rows = await this.#open.send(
      ids.length > 0 ? "read" : "peek",
      // the LEFT JOIN returns the time even if no row is found
      `SELECT now, ${guardSql} FROM (SELECT ${clock} AS now) AS clock LEFT JOIN ${this.#tables.executions} FORCE INDEX (ids) ON id ${text}`,
      values,
    );
    const found = rows.filter(isWhole).map((row) => guardOf(row));
    return { now: Number(rows[0]!.now), found: new Map(found.map((guard) => [guard.id, guard])) };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const { text, values } = inList(ids);
    const rows = await this.#open.send("read", statements.loadStatement(this.#tables, text), [...values, ...values, ...values]);
    return storedRowsOf(rows);
  }

  async heads(ids: readonly string[]): Promise<readonly ListedRow[]> {
    const { text, values } = inList(ids);
    const statement = `SELECT ${statements.listedSql} FROM ${this.#tables.executions} FORCE INDEX (ids) WHERE id ${text} AND deleted_at IS NULL`;
    return (await this.#open.send("read", statement, values)).map((row) => listedRowOf(row));
  }

  async write(writes: readonly RowWrite[]): Promise<RowAnswer[]> {
    for (const write of writes) refuseLongNames(write);
    // updates lock only existing rows, by their ids
    return this.#open.run(writes.every(({ kind }) => kind === "update") ? "updateById" : "write", (to) => writeRows(to, writes));
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    const { executions, events } = this.#tables;
    const rows = await this.#open.send(
      "read",
      `SELECT v.version, v.commit_id, CAST(v.event AS BINARY) AS event FROM ${executions} AS e STRAIGHT_JOIN ${events} AS v
      ON v.execution = e.seq WHERE e.id = ? AND v.version > ? ORDER BY v.version LIMIT ?`,
      [id, afterVersion, limit],
    );
    return rows.map(({ version, commit_id, event }) => ({
      version: Number(version),
      commitId: commit_id as string,
      text: event as string,
    }));
  }

  async due({ keys, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const asked = (keys ?? [null]).map((key) => ({ text: `(${statements.dueStatement(this.#tables, key, guardSql)})`, key }));
    const values = asked.flatMap(({ key }) => [...(key === null ? [] : [key]), overdueMs, limit]);
    const rows = await this.#open.send("peek", asked.map(({ text }) => text).join(" UNION ALL "), values);
    return { executions: rows.map((row) => guardOf(row)), keyedDue: "exempt" };
  }

  dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const keys = async (statement: string, values: readonly MysqlValue[]): Promise<DueKey[]> =>
      (await this.#open.send("peek", statement, values)).map((row) => ({ key: row.due_key as string, limit: Number(row.permit_limit) }));
    const search = {
      longestDue: () => keys(statements.keyedWindowStatement(this.#tables), [overdueMs]),
      scan: () => keys(statements.keyScanStatement(this.#tables), [overdueMs, after]),
    };
    return findDueKeys(search, after, limit);
  }

  async exempt(limit: number, overdueMs: number): Promise<readonly ExecutionGuard[]> {
    const rows = await this.#open.send("peek", statements.exemptStatement(this.#tables), [overdueMs, overdueMs, limit]);
    return rows.map((row) => guardOf(row));
  }

  claimDue(claim: DueClaim): Promise<DueClaimed> {
    return claimDue(this.#open, claim);
  }
}
