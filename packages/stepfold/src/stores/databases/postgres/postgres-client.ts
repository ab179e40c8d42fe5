import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { sha256 } from "../../../core/values/hash/sha256.ts";
import type { TransactionQuery } from "../../../ports/transaction-query.ts";

/**
 * The part of a client that the store needs: one method. A `Pool` or `Client` of pg, Neon's `Pool`, and PGlite fit as they are.
 *
 * Each call sends one independent statement, so any connection of a pool can run it. Only for a transaction the store also uses
 * `connect()` of a pool. The type is declared here and not imported, so that Stepfold depends on no driver.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Sends a statement. */
export type Query = (text: string, values?: unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;

/** A statement in the form that pg accepts. */
interface PgStatement {
  /** The name under which the server keeps the prepared statement. Absent: the server does not keep it. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
  /** How many milliseconds pg waits for the answer. After that the statement fails, and a pool closes the connection. */
  readonly query_timeout: number;
}

interface PgClient {
  query(statement: PgStatement): ReturnType<Query>;
}

/**
 * The longest time that an answer may take, in milliseconds. It is longer than the lock timeout of a write (4 s at most), so that the
 * server gives up a write that waits for a lock, and reports it, before this limit ends the call.
 */
const maxAnswerMs = 10_000;

/**
 * Returns a function that sends statements, with a time limit if the client supports one: over a connection that has died unnoticed, an
 * answer never comes.
 */
export function timedQuery(client: PostgresClient): Query {
  if (!canPrepare(client)) return (text, values) => client.query(text, values);
  const query_timeout = answerMsOf(client);
  return (text, values = []) => (client as unknown as PgClient).query({ text, values, query_timeout });
}

/** Returns the time limit for an answer: the `query_timeout` of the client if it has one that is shorter, else `maxAnswerMs`. */
function answerMsOf(client: PostgresClient): number {
  const { options, connectionParameters } = client as {
    options?: { query_timeout?: unknown };
    connectionParameters?: { query_timeout?: unknown };
  };
  const own = Number(options?.query_timeout ?? connectionParameters?.query_timeout);
  return own > 0 ? Math.min(own, maxAnswerMs) : maxAnswerMs;
}

/** True if the client looks like a `Pool` or `Client` of pg: those, and clients modelled on them, accept statements with names. */
export function canPrepare(client: PostgresClient): boolean {
  const { connect, end, on } = client as { connect?: unknown; end?: unknown; on?: unknown };
  return [connect, end, on].every((method) => typeof method === "function");
}

/**
 * Returns a function that sends prepared statements, so that the server keeps the plan of each statement, per connection. Some poolers
 * switch the server connection after each transaction and do not track prepared statements. Then the server refuses a statement
 * without running it, and from this one on the function sends all statements unprepared.
 */
export function preparedQuery(client: PostgresClient): Query {
  const names = new Map<string, string>();
  const fresh = timedQuery(client);
  let isRefused = false;
  return async (text, values = []) => {
    if (isRefused) return fresh(text, values);
    let name = names.get(text);
    if (name === undefined) {
      // a hash of the whole text, so that another version of Stepfold behind the same pooler never uses the same name for another text
      name = `stepfold_${sha256(text).slice(0, 32)}`;
      names.set(text, name);
    }
    try {
      return await (client as unknown as PgClient).query({ name, text, values, query_timeout: answerMsOf(client) });
    } catch (cause) {
      // 26000: the prepared statement does not exist; 42P05: it exists already. The pooler has switched the server connection
      const { code } = (cause ?? {}) as { code?: unknown };
      if (code !== "26000" && code !== "42P05") throw cause;
      isRefused = true;
      return fresh(text, values);
    }
  };
}

/** A connection of a pool, which belongs to the store until the store releases it. */
interface PooledConnection extends PostgresClient {
  /** Returns the connection to the pool. `destroy`: true if it must not be used again. */
  release(destroy?: boolean): void;
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
}

/** A client that hands out connections: a `Pool` of pg, or a client modelled on it. */
export interface PostgresPool extends PostgresClient {
  connect(): Promise<PooledConnection>;
}

/**
 * True if the client is a pool, so that a transaction gets a connection of its own. A single `Client` cannot run a transaction of the
 * store, because other code may send statements over it at the same time.
 */
export function isPool(client: PostgresClient): client is PostgresPool {
  const { connect, totalCount } = client as { connect?: unknown; totalCount?: unknown };
  return typeof connect === "function" && typeof totalCount === "number";
}

/**
 * Runs the statements of `work` in one transaction. The transaction is rolled back if `work` rejects.
 *
 * @param maxPauseMs the longest pause between two statements: after it, the server ends the session and frees its locks, because the
 *   process may hang
 */
export async function inTransaction<T>(pool: PostgresPool, maxPauseMs: number, work: (query: TransactionQuery) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  // without a listener, Node.js throws an error of the connection; the statement in flight, or the next one, rejects with it anyway
  const heard = (): void => undefined;
  connection.on("error", heard);
  let isBroken = false;
  try {
    const query = timedQuery(connection);
    await query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${maxPauseMs}`);
    const value = await work((text, values = []) => query(text, [...values]));
    checkCommitted(await query("COMMIT"));
    return value;
  } catch (cause) {
    await timedQuery(connection)("ROLLBACK").catch(() => {
      isBroken = true;
    });
    throw cause;
  } finally {
    connection.off("error", heard);
    connection.release(isBroken);
  }
}

/** Throws if COMMIT has rolled the transaction back: after a failed statement, COMMIT does not fail, but reports `ROLLBACK`. */
function checkCommitted(result: object): void {
  const { command = "COMMIT" } = result as { command?: unknown };
  if (command === "COMMIT") return;
  const reason = "the transaction was rolled back, because one of its statements had failed and its error was not passed on";
  throw new StepfoldError("STORE_REJECTED", { store: "postgres", reason });
}
