import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { sha256 } from "../../../core/values/sha256.ts";
import type { TransactionQuery } from "../../../ports/transaction-query.ts";

/**
 * What we need of a client: one method. A `Pool` or `Client` of pg, Neon's `Pool`, and PGlite have it as they are.
 *
 * Every statement is one call that stands for itself, so it does not matter over which connection of a pool it goes.
 * Described here and not imported, so that no driver is a dependency.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Sends a statement. */
export type Query = (text: string, values?: unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;

/** A statement as pg takes it. */
interface PgStatement {
  /** Under which the server is to keep it. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
  /** The longest that an answer is waited for; then the connection is given up. */
  readonly query_timeout: number;
}

interface PgClient {
  query(statement: PgStatement): ReturnType<Query>;
}

/** Above the lock timeout of a write: the server ends it first, and says so. */
const maxAnswerMs = 10_000;

/** Sends statements that end where the client can end them: over a connection that is dead and does not say so, no answer comes. */
export function endingQuery(client: PostgresClient): Query {
  if (!canPrepare(client)) return (text, values) => client.query(text, values);
  const query_timeout = answerMsOf(client);
  return (text, values = []) => (client as unknown as PgClient).query({ text, values, query_timeout });
}

/** Its own limit, if that is shorter. */
function answerMsOf(client: PostgresClient): number {
  const { options, connectionParameters } = client as {
    options?: { query_timeout?: unknown };
    connectionParameters?: { query_timeout?: unknown };
  };
  const own = Number(options?.query_timeout ?? connectionParameters?.query_timeout);
  return own > 0 ? Math.min(own, maxAnswerMs) : maxAnswerMs;
}

/** True for what looks like a `Pool` or `Client` of pg, or one made after them: those take statements with names. */
export function canPrepare(client: PostgresClient): boolean {
  const { connect, end, on } = client as { connect?: unknown; end?: unknown; on?: unknown };
  return [connect, end, on].every((method) => typeof method === "function");
}

/**
 * Has the server keep the plan of every statement, per connection. Behind a pooler that hands a connection from one
 * transaction to the next and knows nothing of that, the server says so and does nothing; from then on nothing is kept.
 */
export function preparedQuery(client: PostgresClient): Query {
  const names = new Map<string, string>();
  const fresh = endingQuery(client);
  let isRefused = false;
  return async (text, values = []) => {
    if (isRefused) return fresh(text, values);
    let name = names.get(text);
    if (name === undefined) {
      // of the whole text: another version of ours, over the same pooler, has other names for other statements
      name = `stepfold_${sha256(text).slice(0, 32)}`;
      names.set(text, name);
    }
    try {
      return await (client as unknown as PgClient).query({ name, text, values, query_timeout: answerMsOf(client) });
    } catch (cause) {
      // "prepared statement does not exist", or exists already: this connection is another one than it seemed
      const { code } = (cause ?? {}) as { code?: unknown };
      if (code !== "26000" && code !== "42P05") throw cause;
      isRefused = true;
      return fresh(text, values);
    }
  };
}

/** A connection that is ours until we release it. */
interface PooledConnection extends PostgresClient {
  /** True: it is not to be used again. */
  release(destroy?: boolean): void;
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
}

/** A client that gives connections out: a `Pool` of pg, or one made after it. */
export interface PostgresPool extends PostgresClient {
  connect(): Promise<PooledConnection>;
}

/** True for what can hold several statements together. A lone `Client` cannot: others send theirs over it meanwhile. */
export function isPool(client: PostgresClient): client is PostgresPool {
  const { connect, totalCount } = client as { connect?: unknown; totalCount?: unknown };
  return typeof connect === "function" && typeof totalCount === "number";
}

/** Makes several statements one transaction, whose locks are free if its process stands still. What `work` rejects with undoes all of them. */
export async function inTransaction<T>(pool: PostgresPool, maxPauseMs: number, work: (query: TransactionQuery) => Promise<T>): Promise<T> {
  const connection = await pool.connect();
  // the statement that is in flight, or the next one, tells what became of the connection
  const heard = (): void => undefined;
  connection.on("error", heard);
  let isBroken = false;
  try {
    const query = endingQuery(connection);
    await query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${maxPauseMs}`);
    const value = await work((text, values = []) => query(text, [...values]));
    checkCommitted(await query("COMMIT"));
    return value;
  } catch (cause) {
    await endingQuery(connection)("ROLLBACK").catch(() => {
      isBroken = true;
    });
    throw cause;
  } finally {
    connection.off("error", heard);
    connection.release(isBroken);
  }
}

/** A transaction in which a statement failed is undone by COMMIT, which says so and does not fail. */
function checkCommitted(result: object): void {
  const { command = "COMMIT" } = result as { command?: unknown };
  if (command === "COMMIT") return;
  const reason = "the transaction was undone, because a statement in it had failed and no error was reported";
  throw new StepfoldError("STORE_REJECTED", { store: "postgres", reason });
}
