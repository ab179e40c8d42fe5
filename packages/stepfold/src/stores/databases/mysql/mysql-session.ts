import type { ColumnRow } from "../../kit/columns.ts";
import { lockLimitMark, lockLimitOf, withLockLimit } from "../../kit/lock-limit.ts";
import { answerOrEnd, NoAnswer } from "../../kit/no-answer.ts";
import { type MysqlConnection, type MysqlPool, OwnTransaction } from "./mysql-client.ts";
import { isServerError } from "./mysql-error.ts";

/** The value of a parameter `?`. */
export type MysqlValue = string | number | Uint8Array | null;

/**
 * Sends a statement and returns its rows by the names of the columns, no rows if the statement only writes. Bytes are decoded as UTF-8
 * text, except in a column `bytes`.
 */
export type MysqlAsk = (sql: string, values?: readonly MysqlValue[]) => Promise<readonly ColumnRow[]>;

/** How many times a transaction is tried in total if it conflicts with others. */
const maxTries = 8;

/** The longest pause within a transaction. After that the server ends the session of a process that has stopped, and frees its locks. */
const maxPauseSeconds = 2;
/**
 * The longest time in milliseconds for which each try waits for a row that another transaction has locked; leases below 7.5 s lower it. The
 * caller of the store does not wait much longer, and a write must not happen after its caller has given up.
 */
export const maxLockMs = 3_000;

/** The statements before and after the work on a connection. */
interface Frame {
  readonly begin: readonly string[];
  readonly end: string | null;
  /** These are sent instead of `end` if the work fails. */
  readonly undo: readonly string[];
}

const readCommitted = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
// the transaction begins and ends by a change of `autocommit`, so that setting and resetting the limits needs no extra round trips
const limited = `SET @stepfold_commit = @@autocommit, @stepfold_pause = @@wait_timeout, @stepfold_lock = @@innodb_lock_wait_timeout,
  autocommit = 0, wait_timeout = LEAST(${maxPauseSeconds}, ${lockLimitMark}), innodb_lock_wait_timeout = LEAST(@@innodb_lock_wait_timeout, ${lockLimitMark})`;
const asBefore = "autocommit = @stepfold_commit, wait_timeout = @stepfold_pause, innodb_lock_wait_timeout = @stepfold_lock";
const updateById: Frame = { begin: [limited], end: `SET /* COMMIT */ autocommit = 1, ${asBefore}`, undo: ["ROLLBACK", `SET ${asBefore}`] };
const peek: Frame = { begin: [], end: "COMMIT", undo: ["ROLLBACK"] }; // the COMMIT is for sessions without autocommit

/**
 * How the work on a connection is isolated from other transactions.
 *
 * - `write`: one transaction in READ COMMITTED. Every statement sees what was committed before it. The gaps between rows are not locked,
 *   so that transactions that create rows do not deadlock.
 * - `updateById`: one transaction in the isolation level of the session, for work that locks only existing rows by their id. It saves a
 *   round trip.
 * - `read`: one statement in READ COMMITTED. The statement sees what was committed before it and nothing that is written meanwhile, even
 *   if the session would read uncommitted data.
 * - `peek`: single statements in the isolation level of the session. It saves a round trip where uncommitted data does no harm, for example
 *   because a later write compares the data again.
 */
export type Isolation = "write" | "updateById" | "read" | "peek";

const framesByIsolation: Readonly<Record<Isolation, Frame>> = {
  write: { ...updateById, begin: [limited, readCommitted] },
  updateById,
  read: { ...peek, begin: [readCommitted] },
  peek,
};

const release = "RELEASE SAVEPOINT stepfold";
const savepoint: Frame = { begin: ["SAVEPOINT stepfold"], end: release, undo: ["ROLLBACK TO SAVEPOINT stepfold", release] };
const bare: Frame = { begin: [], end: null, undo: ["SAVEPOINT stepfold", release] };
/**
 * In a transaction that its user has begun, the isolation is the user's, and what fails is undone alone. If the server has undone the whole
 * transaction, the statements of `undo` fail, and the connection counts as lost.
 */
const framesInside: Readonly<Record<Isolation, Frame>> = { write: savepoint, updateById: savepoint, read: bare, peek: bare };

/**
 * Runs `work` on one connection. If the server undoes the transaction in favour of another one (a deadlock, or a row that changed since
 * it was read), the transaction is tried again at once, so `work` may run several times.
 */
export async function onConnection<T>(pool: MysqlPool, isolation: Isolation, work: (ask: MysqlAsk) => Promise<T>): Promise<T> {
  const isInside = pool instanceof OwnTransaction;
  const frames = isInside ? framesInside : framesByIsolation;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(pool, frames[isolation], work);
    } catch (cause) {
      if (isInside || tries === maxTries || !isServerError(cause, "conflict")) throw cause;
    }
  }
}

async function attempt<T>(pool: MysqlPool, { begin, end, undo }: Frame, work: (ask: MysqlAsk) => Promise<T>): Promise<T> {
  // a connection that the pool hands out too late goes back at once
  const connection = await inTime(pool.getConnection(), (late) => late.release());
  try {
    for (const statement of begin) await inTime(connection.query(withLockLimit(statement, lockLimitOf(pool, maxLockMs).seconds)));
    const result = await work(askOver(connection));
    if (end !== null) await inTime(connection.query(end));
    connection.release();
    return result;
  } catch (cause) {
    if (cause instanceof NoAnswer) connection.destroy();
    else await abandon(connection, undo);
    throw cause;
  }
}

/** Resolves to the driver's answer, or rejects with `NoAnswer` if none comes within 10 s. @param late gets an answer that comes later */
const inTime = <T>(work: Promise<T>, late?: (answer: T) => void): Promise<T> => answerOrEnd("mysql", work, late);

/** Undoes the work, restores the settings of a connection and returns it to the pool. If that fails, the connection is destroyed. */
async function abandon(connection: MysqlConnection, undo: readonly string[]): Promise<void> {
  try {
    for (const statement of undo) await inTime(connection.query(statement));
    connection.release();
  } catch {
    connection.destroy();
  }
}

function askOver(connection: MysqlConnection): MysqlAsk {
  return async (sql, values = []) => {
    const statement = { sql, values: values.map(bound), rowsAsArray: true, nestTables: false, typeCast: asItIs } as const;
    const [rows, columns] = (await inTime(connection.execute(statement))) as readonly [unknown, (readonly { readonly name: string }[])?];
    if (!Array.isArray(rows)) return [];
    return rows.map((cells) => Object.fromEntries(columns!.map(({ name }, index) => [name, cellOf(name, cells[index])])));
  };
}

/**
 * Returns a value in the form that is sent. Text is sent as bytes, so that the charset of the connection does not change it. Numbers
 * are sent as text, because the driver would send a double, which some places of a statement do not accept.
 */
function bound(value: MysqlValue): string | Uint8Array | null {
  if (typeof value === "number") return String(value);
  if (value === null) return null;
  // the driver recognizes bytes only as a `Buffer`
  return typeof value === "string" ? Buffer.from(value, "utf8") : Buffer.from(value.buffer, value.byteOffset, value.length);
}

/** The `typeCast` of every statement: it replaces one that the pool may have, and reads values as usual. */
const asItIs = (_: unknown, next: () => unknown): unknown => next();

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the value of a cell. Names and JSON are selected as binary, so they come as bytes and are decoded; a column `bytes` is not. */
function cellOf(name: string, cell: unknown): unknown {
  return cell instanceof Uint8Array && name !== "bytes" ? decoder.decode(cell) : cell;
}
