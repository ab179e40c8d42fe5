import type { ColumnRow } from "../../kit/columns.ts";
import { answerOrEnd, lockLimitMark, lockLimitOf, NoAnswer, withLockLimit } from "../../kit/no-answer.ts";
import type { MysqlConnection, MysqlPool } from "./mysql-client.ts";
import { isServerError } from "./mysql-error.ts";

/** What may stand for a `?`. */
export type MysqlValue = string | number | Uint8Array | null;

/**
 * Sends a statement. Gives its rows by the names of their columns, none if it only writes. Bytes are text in UTF-8, but for those of
 * a column `bytes`.
 */
export type MysqlAsk = (sql: string, values?: readonly MysqlValue[]) => Promise<readonly ColumnRow[]>;

/** How often a transaction is tried that others stand in the way of. */
const maxTries = 4;

/** How long the server waits for the next statement of a transaction: the locks of a process that has stopped are free after it. */
const maxPauseSeconds = 2;
export const maxLockMs = 3_000; // for a row that another transaction holds, each time it is tried: who asked does not wait longer either

/** The statements around what is done on a connection. */
interface Frame {
  readonly begin: readonly string[];
  readonly end: string;
  readonly undo: readonly string[];
}

const readCommitted = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
// it begins and ends by `autocommit`, so that the limit and its end cost no round trips of their own
const limited = `SET @stepfold_commit = @@autocommit, @stepfold_pause = @@wait_timeout, @stepfold_lock = @@innodb_lock_wait_timeout,
  autocommit = 0, wait_timeout = LEAST(${maxPauseSeconds}, ${lockLimitMark}), innodb_lock_wait_timeout = LEAST(@@innodb_lock_wait_timeout, ${lockLimitMark})`;
const asBefore = "autocommit = @stepfold_commit, wait_timeout = @stepfold_pause, innodb_lock_wait_timeout = @stepfold_lock";
const change: Frame = { begin: [limited], end: `SET /* COMMIT */ autocommit = 1, ${asBefore}`, undo: ["ROLLBACK", `SET ${asBefore}`] };
const look: Frame = { begin: [], end: "COMMIT", undo: ["ROLLBACK"] }; // it ends so for sessions that do not commit by themselves

/**
 * What is done on a connection.
 *
 * - `write`: one transaction. Every statement sees what was committed before it; what was not found is not locked, so that those who
 *   create do not wait for one another in a circle.
 * - `change`: the same in the isolation of the session: for what only locks rows by their id that are there. Saves a round trip.
 * - `read`: one statement, which sees what was committed before it, and nothing that was written meanwhile, also where sessions read
 *   what is not committed.
 * - `look`: statement by statement, each in the isolation of the session. Saves a round trip where it does not matter what others have
 *   not committed yet, because a later write compares it again.
 */
export type ConnectionUse = "write" | "change" | "read" | "look";

const frames: Readonly<Record<ConnectionUse, Frame>> = {
  write: { ...change, begin: [limited, readCommitted] },
  change,
  read: { ...look, begin: [readCommitted] },
  look,
};

/**
 * Runs `work` on one connection. What the server gave up for another transaction (deadlock, lock wait) is tried again at once, so
 * `work` may run several times.
 */
export async function onConnection<T>(pool: MysqlPool, use: ConnectionUse, work: (ask: MysqlAsk) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(pool, frames[use], work);
    } catch (cause) {
      if (tries === maxTries || !isServerError(cause, "conflict")) throw cause;
    }
  }
}

async function attempt<T>(pool: MysqlPool, { begin, end, undo }: Frame, work: (ask: MysqlAsk) => Promise<T>): Promise<T> {
  const connection = await ending(pool.getConnection(), (late) => late.release());
  try {
    for (const statement of begin) await ending(connection.query(withLockLimit(statement, lockLimitOf(pool, maxLockMs).seconds)));
    const result = await work(askOver(connection));
    await ending(connection.query(end));
    connection.release();
    return result;
  } catch (cause) {
    if (cause instanceof NoAnswer) connection.destroy();
    else await abandon(connection, undo);
    throw cause;
  }
}

/** What the driver answers in time. Otherwise its connection is given up. */
const ending = <T>(work: Promise<T>, late?: (answer: T) => void): Promise<T> => answerOrEnd("mysql", work, late);

/** Gives a connection back as it was; one that does not even do that is not used again. */
async function abandon(connection: MysqlConnection, undo: readonly string[]): Promise<void> {
  try {
    for (const statement of undo) await ending(connection.query(statement));
    connection.release();
  } catch {
    connection.destroy();
  }
}

function askOver(connection: MysqlConnection): MysqlAsk {
  return async (sql, values = []) => {
    const statement = { sql, values: values.map(bound), rowsAsArray: true, nestTables: false, typeCast: asItIs } as const;
    const [rows, columns] = (await ending(connection.execute(statement))) as readonly [unknown, (readonly { readonly name: string }[])?];
    if (!Array.isArray(rows)) return [];
    return rows.map((cells) => Object.fromEntries(columns!.map(({ name }, index) => [name, cellOf(name, cells[index])])));
  };
}

/**
 * Text goes over as bytes, so that the charset of the connection does not change it. Numbers go as text: the driver would
 * send a double, which not every place of a statement takes.
 */
function bound(value: MysqlValue): string | Uint8Array | null {
  if (typeof value === "number") return String(value);
  if (value === null) return null;
  // the driver knows bytes by this class only
  return typeof value === "string" ? Buffer.from(value, "utf8") : Buffer.from(value.buffer, value.byteOffset, value.length);
}

/** In place of a function that the pool may have. */
const asItIs = (_: unknown, next: () => unknown): unknown => next();

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What a column holds: text comes as bytes where nothing was to be converted. */
function cellOf(name: string, cell: unknown): unknown {
  return cell instanceof Uint8Array && name !== "bytes" ? decoder.decode(cell) : cell;
}
