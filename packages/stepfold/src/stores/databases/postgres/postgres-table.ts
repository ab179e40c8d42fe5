import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { TransactionQuery } from "../../../ports/transaction-query.ts";
import { findDueKeys, scannedRows, windowRows } from "../../kit/claims/due-keys.ts";
import { guardColumns, guardOf, isWhole, listedColumns, listedRowOf, sortableTimeSql, wholeRowSql } from "../../kit/columns.ts";
import type { ExecutionGuard, RowAnswer, RowWrite, StoredEvent } from "../../kit/execution-rows.ts";
import type { DueClaimed, DueExecutions, DueKey, DueKeys, DueQuery, ExecutionTable, KeyedDue } from "../../kit/execution-table.ts";
import type { ListedRow, ListTable } from "../../kit/lists/list-table.ts";
import { sqlLists } from "../../kit/lists/sql-lists.ts";
import type { StoredRows } from "../../kit/restoring/restored-snapshot.ts";
import { failsForEveryWrite } from "./postgres-error.ts";
import { claimDueStatement } from "./postgres-fast.ts";
import { postgresRecords } from "./postgres-records.ts";
import type { PostgresSession, TextRow } from "./postgres-session.ts";
import {
  clock,
  columnsAsText,
  idOf,
  joined,
  numberedBinder,
  partsOf,
  plainText,
  sqlSeparator,
  textsIn,
  wholeText,
} from "./postgres-text.ts";
import { WriteStatements } from "./row-statements.ts";

type DueClaim = Parameters<NonNullable<ExecutionTable["claimDue"]>>[0];

/** The largest head, event or child in bytes. A load returns a whole history in one row, and one message has at most a gigabyte. */
const maxValueBytes = 16 * 1024 * 1024;

const guard = columnsAsText(guardColumns, "executions");
// a row without a time of creation comes where PostgreSQL sorts it: after all others
const createdAt = sortableTimeSql(`coalesce(executions.created_at, ${Number.MAX_SAFE_INTEGER})`);
const otherColumns = columnsAsText(
  listedColumns.filter((name) => name !== "created_at"),
  "executions",
);
const listed = `${guard}, ${otherColumns}, ${createdAt}::text AS created_at`;

/** Executions in a schema of PostgreSQL. */
export class PostgresTable implements ExecutionTable {
  readonly name = "postgres";
  readonly features: StoreFeatures;
  readonly grouping: NonNullable<ExecutionTable["grouping"]> = { maxWrites: 100, isOutage: failsForEveryWrite };
  readonly records: ExecutionTable["records"];
  readonly lists: ListTable;
  readonly transact?: NonNullable<ExecutionTable["transact"]>;
  readonly lockLimit: ExecutionTable["lockLimit"];
  readonly #session: PostgresSession;
  readonly #executions: string;
  readonly #statements: WriteStatements;

  /** @param statements the statements of the table outside a transaction, for a table whose session is a transaction */
  constructor(session: PostgresSession, statements: WriteStatements = new WriteStatements(session)) {
    const { transact, schema } = session;
    const transactions = transact && ({ transactions: "postgres" } as const);
    this.#session = session;
    this.#statements = statements;
    this.lockLimit = session.lockLimit;
    this.#executions = `${schema}.executions`;
    this.features = { clock: "store", durable: true, multiProcess: true, maxValueBytes, permits: true, ...transactions };
    this.records = postgresRecords(session);
    this.lists = sqlLists<string>({
      ...{
        from: `${this.#executions} AS executions`,
        guard,
        listed,
        readable: wholeRowSql,
        binder: numberedBinder,
        ask: session.askUnprepared,
        textOf: idOf,
      },
      // the column `labels` is not escaped like other texts of users; the label has a separator on either side, which is cut off
      labelled: (label, values) => `string_to_array(labels, chr(29)) @> ARRAY[$${values.push(label.slice(1, -1))}]`,
      shown: (number) => `${number}::text`,
    });
    if (transact) {
      this.transact = <T>(work: (own: PostgresTable, query: TransactionQuery) => Promise<T>): Promise<T> =>
        transact((own, query) => work(new PostgresTable(own, statements), query));
    }
  }

  /** Reads guards. The statement returns at least one row, because it also returns the time. */
  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const which = ids.length < 2 ? "id = $1" : `id = ANY(${textsIn(1)})`;
    const text = `WITH ${clock} SELECT now::text, ${guard} FROM clock LEFT JOIN ${this.#executions} ON ${which}`;
    const rows = await this.#session.ask(text, [joined(ids.map(plainText))]);
    return { now: Number(rows[0]!.now), found: new Map(guardsIn(rows).map((one) => [one.id, one])) };
  }

  /** Reads head, the events after the last checkpoint, and children with one statement, so that they are of the same version. */
  async load(ids: readonly string[]): Promise<Map<string, StoredRows>> {
    const { schema, ask, askUnprepared } = this.#session;
    const aggregate = (rows: string): string => `array_to_string(ARRAY(${rows}), ${sqlSeparator})`;
    const text = `
      SELECT id, version::text, status, head::text,
        ${aggregate(`SELECT event::text FROM ${schema}.events WHERE execution = seq AND events.version > coalesce(checkpoint_version, -1) ORDER BY events.version`)} AS events,
        ${aggregate(`SELECT key::text || ${sqlSeparator} || children.head::text FROM ${schema}.children WHERE execution = seq ORDER BY place`)} AS children
      FROM ${this.#executions} WHERE ${ids.length === 1 ? "id = $1" : `id = ANY(${textsIn(1)})`} AND coalesce(deleted_at, -1) = -1`;
    const rows = await (ids.length === 1 ? ask : askUnprepared)(text, [joined(ids.map(plainText))]);
    return new Map(rows.map((row) => [idOf(row.id!), storedRowsOf(row)]));
  }

  async heads(ids: readonly string[]): Promise<readonly ListedRow[]> {
    const text = `SELECT ${listed} FROM ${this.#executions}
      WHERE id = ANY(${textsIn(1)}) AND coalesce(deleted_at, -1) = -1`;
    return (await this.#session.askUnprepared(text, [joined(ids.map(plainText))])).map((row) => listedRowOf(row, idOf));
  }

  async write(writes: readonly RowWrite[]): Promise<RowAnswer[]> {
    const answers: RowAnswer[] = writes.map(() => null);
    const kinds = new Set(writes.map(({ kind }) => kind));
    await Promise.all([...kinds].map((kind) => this.#writeOfKind(kind, writes, answers)));
    return answers;
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    const text = `
      SELECT version::text, commit_id, event::text FROM ${this.#session.schema}.events
      WHERE execution = (SELECT seq FROM ${this.#executions} WHERE id = $1) AND version > $2::bigint ORDER BY events.version LIMIT $3::bigint`;
    const rows = await this.#session.ask(text, [plainText(id), wholeText(afterVersion, Math.floor), wholeText(limit)]);
    return rows.map((row) => ({ version: Number(row.version), commitId: idOf(row.commit_id!), text: row.event! }));
  }

  async due({ keys, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const first = (which: string): string => `
      SELECT * FROM ${this.#executions} WHERE ${which} AND ${wholeRowSql} AND due_at <= (SELECT now FROM clock) - $1::bigint
      ORDER BY executions.due_at, executions.seq LIMIT $2::bigint`;
    const due = keys
      ? `unnest(${textsIn(3)}) AS asked (key) CROSS JOIN LATERAL (${first("permit_key = asked.key")})`
      : `(${first("permit_key IS NULL")})`;
    const text = `WITH ${clock} SELECT ${columnsAsText(guardColumns, "due")} FROM ${due} AS due ORDER BY due.due_at, due.seq`;
    const values = [wholeText(overdueMs), wholeText(limit), ...(keys ? [joined(keys.map(plainText))] : [])];
    return { executions: guardsIn(await this.#session.askUnprepared(text, values)), keyedDue: "exempt" };
  }

  dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const isDue = "due_at <= (SELECT now FROM clock) - $1::bigint";
    // a condition on `permit_limit` selects the index by time, one on `permit_key` the index by key, even if statistics know no permits yet
    const window = `
      WITH ${clock} SELECT permit_key, permit_limit::text FROM ${this.#executions} WHERE permit_limit IS NOT NULL AND ${isDue}
      ORDER BY executions.due_at, executions.seq LIMIT ${windowRows}`;
    const next = (than: string): string =>
      `(SELECT permit_key FROM ${this.#executions} WHERE permit_key > ${than} AND due_at IS NOT NULL ORDER BY permit_key LIMIT 1)`;
    const scan = `
      WITH RECURSIVE ${clock}, keys (permit_key, number) AS (
        SELECT ${next("$2")}, 1 UNION ALL SELECT ${next("keys.permit_key")}, number + 1 FROM keys WHERE permit_key IS NOT NULL AND number < ${scannedRows}
      )
      SELECT permit_key, coalesce((
        SELECT permit_limit FROM ${this.#executions} AS e WHERE e.permit_key = keys.permit_key AND ${isDue} ORDER BY e.due_at, e.seq LIMIT 1
      ), 0)::text AS permit_limit FROM keys WHERE permit_key IS NOT NULL ORDER BY number`;
    const keys = async (text: string, values: readonly string[]): Promise<DueKey[]> =>
      (await this.#session.askUnprepared(text, values)).map((row) => ({ key: idOf(row.permit_key!), limit: Number(row.permit_limit) }));
    const search = {
      longestDue: () => keys(window, [wholeText(overdueMs)]),
      scan: () => keys(scan, [wholeText(overdueMs), plainText(after)]),
    };
    return findDueKeys(search, after, limit);
  }

  async exempt(limit: number, overdueMs: number): Promise<readonly ExecutionGuard[]> {
    const since = "(SELECT now FROM clock) - $1::bigint";
    // `due_at + 0` keeps the planner from using an index of due executions
    const text = `
      WITH ${clock} SELECT ${guard} FROM ${this.#executions}
      WHERE exempt_at <= greatest(0, ${since}) AND due_at + 0 <= ${since} AND ${wholeRowSql}
      ORDER BY executions.exempt_at, executions.seq LIMIT $2::bigint`;
    return guardsIn(await this.#session.askUnprepared(text, [wholeText(overdueMs), wholeText(limit)]));
  }

  async claimDue({ owner, leaseMs, limit, overdueMs, fenceStep }: DueClaim): Promise<DueClaimed> {
    const values = [plainText(owner), ...[leaseMs, limit, overdueMs, fenceStep].map((value) => wholeText(value))];
    const rows = await this.#session.askUnprepared(claimDueStatement(this.#executions), values);
    return { now: Number(rows[0]!.now), executions: guardsIn(rows), keyedDue: (rows[0]!.keyed_due ?? "none") as KeyedDue };
  }

  /** Makes the writes of one kind with one statement, and sets their answers. */
  async #writeOfKind(kind: RowWrite["kind"], writes: readonly RowWrite[], answers: RowAnswer[]): Promise<void> {
    const indices = [...writes.keys()].filter((index) => writes[index]!.kind === kind);
    const own = indices.length === writes.length ? writes : indices.map((index) => writes[index]!);
    const { text, values } = this.#statements.of(kind, own);
    const { ask, askUnprepared } = this.#session;
    for (const { ordinal, now, version, status } of await (own.length === 1 ? ask : askUnprepared)(text, values)) {
      const made = now !== null && { now: Number(now), version: Number(version), status: status as Status };
      answers[indices[Number(ordinal) - 1]!] = made || "passedOver";
    }
  }
}

/** Returns the guards in rows. A row without `seq` has no guard: it only brings the time. */
function guardsIn(rows: readonly TextRow[]): ExecutionGuard[] {
  return rows.filter(isWhole).map((row) => guardOf(row, idOf));
}

/** Converts a row of `load`. In the column `children`, keys (JSON strings) and heads alternate. */
function storedRowsOf({ id, version, status, head, events, children }: TextRow): StoredRows {
  const parts = partsOf(children!);
  const pairs: [string, string][] = [];
  for (let index = 0; index < parts.length; index += 2) pairs.push([JSON.parse(parts[index]!) as string, parts[index + 1]!]);
  return {
    workflowId: idOf(id!),
    version: Number(version),
    status: status as Status,
    head: head!,
    events: partsOf(events!),
    children: pairs,
  };
}
