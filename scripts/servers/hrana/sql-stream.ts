import type { Database } from "libsql";
import type { ConnectionPool } from "./connection-pool.ts";
import type {
  BatchCond,
  BatchResult,
  BatchStep,
  DescribeResult,
  HranaError,
  SqlSource,
  Stmt,
  StmtResult,
  StreamRequest,
} from "./pipeline.ts";
import { describeStatement, mayWrite, runStatement } from "./statement.ts";
import type { WriteLockQueue } from "./write-lock-queue.ts";

/** A connection that a client keeps over several requests by means of its baton. */
export class SqlStream {
  readonly #pool: ConnectionPool;
  readonly #connection: Database;
  readonly #lock: WriteLockQueue;
  readonly #stored = new Map<number, string>();
  #closed = false;
  #refused = false;

  constructor(pool: ConnectionPool, lock: WriteLockQueue) {
    this.#pool = pool;
    this.#lock = lock;
    this.#connection = pool.take();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Answers one request of a pipeline. Errors that it throws can be passed to `describeError`. */
  async answer(request: StreamRequest): Promise<object> {
    try {
      return { type: request.type, ...(await this.#dispatch(request)) };
    } finally {
      if (!this.#inTransaction) this.#lock.release();
    }
  }

  /** Closes the stream, and rolls back an open transaction. */
  close(): void {
    if (this.#closed) return;
    if (this.#inTransaction) this.#connection.exec("rollback");
    if (this.#refused) this.#connection.close();
    else this.#pool.give(this.#connection);
    this.#closed = true;
    this.#lock.release();
  }

  /** The connection. Throws if the stream was closed while a request waited. */
  get #usable(): Database {
    if (this.#closed) throw new RangeError("The stream is closed");
    return this.#connection;
  }

  get #inTransaction(): boolean {
    return !this.#closed && this.#connection.inTransaction;
  }

  async #dispatch(request: StreamRequest): Promise<object> {
    switch (request.type) {
      case "execute":
        return { result: await this.#execute(request.stmt) };
      case "batch":
        return { result: await this.#batch(request.batch.steps) };
      case "sequence":
        await this.#whenWritable(() => this.#usable.exec(this.#sqlOf(request)));
        return {};
      case "describe":
        return { result: this.#describe(this.#sqlOf(request)) };
      case "store_sql":
        this.#stored.set(request.sql_id, request.sql);
        return {};
      case "close_sql":
        this.#stored.delete(request.sql_id);
        return {};
      case "get_autocommit":
        return { is_autocommit: !this.#inTransaction };
      case "close":
        this.close();
        return {};
      default:
        throw new RangeError(`unknown request: ${(request as { type: unknown }).type}`);
    }
  }

  async #execute(stmt: Stmt): Promise<StmtResult> {
    const sql = this.#sqlOf(stmt);
    const work = (): StmtResult => {
      try {
        return runStatement(this.#usable, sql, stmt);
      } catch (error) {
        this.#refused ||= describeError(error).code.startsWith("SQLITE_BUSY");
        throw error;
      }
    };
    return mayWrite(sql) ? this.#whenWritable(work) : work();
  }

  async #batch(steps: readonly BatchStep[]): Promise<BatchResult> {
    const results: (StmtResult | null)[] = [];
    const errors: (HranaError | null)[] = [];
    const holds = (cond: BatchCond): boolean => {
      switch (cond.type) {
        case "ok":
          return (results[cond.step] ?? null) !== null;
        case "error":
          return (errors[cond.step] ?? null) !== null;
        case "not":
          return !holds(cond.cond);
        case "and":
          return cond.conds.every(holds);
        case "or":
          return cond.conds.some(holds);
        case "is_autocommit":
          return !this.#inTransaction;
      }
    };
    for (const [index, { condition, stmt }] of steps.entries()) {
      results[index] = errors[index] = null;
      if (condition && !holds(condition)) continue;
      try {
        results[index] = await this.#execute(stmt);
      } catch (error) {
        errors[index] = describeError(error);
      }
    }
    return { step_results: results, step_errors: errors };
  }

  #describe(sql: string): DescribeResult {
    const connection = this.#pool.take();
    try {
      return describeStatement(connection, sql);
    } finally {
      connection.close();
    }
  }

  /**
   * Runs `work` when no other stream has the write lock. The lock is tested with an empty transaction and not with the work itself,
   * because a refused statement stays open and keeps its connection from committing. Inside a transaction waiting is useless, because
   * its snapshot would be too old.
   */
  async #whenWritable<T>(work: () => T): Promise<T> {
    if (this.#inTransaction) return work();
    return this.#lock.run(() => this.#usable.exec("begin immediate; rollback"), work);
  }

  #sqlOf({ sql, sql_id }: SqlSource): string {
    const found = sql ?? this.#stored.get(sql_id ?? -1);
    if (found === undefined) throw new RangeError(`no SQL is stored under ${sql_id}`);
    return found;
  }
}

/** Describes an error: with SQLite's extended code, such as `SQLITE_CONSTRAINT_PRIMARYKEY`, or as an error of the request. */
export function describeError(error: unknown): HranaError {
  const { message, code } = error as { message: string; code?: string };
  return code?.startsWith("SQLITE_") ? { message: `SQLite error: ${message}`, code } : { message, code: "HRANA_PROTO_ERROR" };
}
