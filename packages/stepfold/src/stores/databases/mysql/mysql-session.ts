import type { MysqlConnection, MysqlPool } from "./mysql-client.ts";
import { isConflict } from "./mysql-error.ts";

export type SqlValue = string | number | null;

/** What may stand for a `?`. */
type Bound = SqlValue | Uint8Array;

/** The columns of a row, in the order in which the statement names them. */
export type Row = readonly unknown[];

/** One transaction on one connection. */
export interface Session {
  rows(sql: string, values?: readonly Bound[]): Promise<readonly Row[]>;
  run(sql: string, values?: readonly Bound[]): Promise<void>;
}

/** How often a transaction is made that others stand in the way of. */
const mostAttempts = 4;

const readCommitted = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
const repeatableRead = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";

/**
 * Runs `work` in one transaction that may write. Every statement sees what was committed before it; what was not found is not
 * locked, so that those who create do not wait for one another in a circle.
 *
 * A transaction that the server gave up for another one (deadlock, lock wait) is made again at once, so `work` may run several times.
 */
export function writing<T>(pool: MysqlPool, work: (session: Session) => Promise<T>): Promise<T> {
  return insist(() => transaction(pool, [readCommitted, "START TRANSACTION"], work));
}

/** As `writing`, in the isolation of the session: for what only locks rows by their id that are there. Saves a round trip. */
export function changing<T>(pool: MysqlPool, work: (session: Session) => Promise<T>): Promise<T> {
  return insist(() => transaction(pool, ["START TRANSACTION"], work));
}

/** Runs `work` on one state of the data, whatever others write meanwhile. */
export function reading<T>(pool: MysqlPool, work: (session: Session) => Promise<T>): Promise<T> {
  return transaction(pool, [repeatableRead, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"], work);
}

async function insist<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (cause) {
      if (attempts === mostAttempts || !isConflict(cause)) throw cause;
    }
  }
}

async function transaction<T>(pool: MysqlPool, begin: readonly string[], work: (session: Session) => Promise<T>): Promise<T> {
  const connection = await pool.getConnection();
  try {
    for (const statement of begin) await connection.query(statement);
    const result = await work(sessionOn(connection));
    await connection.query("COMMIT");
    connection.release();
    return result;
  } catch (cause) {
    await abandon(connection);
    throw cause;
  }
}

/** Gives a connection back without its transaction; one that does not even do that is not used again. */
async function abandon(connection: MysqlConnection): Promise<void> {
  try {
    await connection.query("ROLLBACK");
    connection.release();
  } catch {
    connection.destroy();
  }
}

/** Runs `work` on one connection, statement by statement. */
export function connected<T>(pool: MysqlPool, work: (session: Session) => Promise<T>): Promise<T> {
  // the end is for sessions that do not commit by themselves
  return transaction(pool, [], work);
}

function sessionOn(connection: MysqlConnection): Session {
  const ask = async (sql: string, values: readonly Bound[]): Promise<unknown> => {
    const [answer] = await connection.execute({ sql, values: values.map(bound), rowsAsArray: true, nestTables: false, typeCast: asItIs });
    return answer;
  };
  return {
    rows: async (sql, values = []) => (await ask(sql, values)) as Row[],
    async run(sql, values = []) {
      await ask(sql, values);
    },
  };
}

/**
 * Text goes over as bytes, so that the charset of the connection does not change it. Numbers go as text: the driver would
 * send a double, which not every place of a statement takes.
 */
function bound(value: Bound): string | Uint8Array | null {
  if (typeof value === "number") return String(value);
  if (value === null) return null;
  // the driver knows bytes by this class only
  return typeof value === "string" ? Buffer.from(value, "utf8") : Buffer.from(value.buffer, value.byteOffset, value.length);
}

/** In place of a function that the pool may have. */
const asItIs = (_: unknown, next: () => unknown): unknown => next();

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Text of a column, which comes as bytes where nothing was to be converted. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : decoder.decode(value as Uint8Array);
}

/** A number, which a pool may want to be text. */
export function numberOf(value: unknown): number {
  return Number(value);
}

/** A number, or null. */
export function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
