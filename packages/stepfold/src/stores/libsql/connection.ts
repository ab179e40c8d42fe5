import type { EpochMs } from "../../core/values/json.ts";
import type { LibsqlClient, LibsqlResult, LibsqlStatement } from "../databases/libsql/libsql-client.ts";
import type { Walk } from "../sql/sqlite-turns.ts";

/** A client, and what the store's statements depend on. */
export interface Connection {
  readonly retentionMs: number;
  readonly walk: Walk;
  /** What to bind where a statement takes the time; null: the database's clock. */
  time(): EpochMs | null;
  /** One statement: it sees one state of the data. */
  execute(statement: LibsqlStatement): Promise<LibsqlResult>;
  /** Statements in one transaction that may write. */
  write(statements: LibsqlStatement[]): Promise<LibsqlResult[]>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/**
 * A connection over a client.
 *
 * @param prepare what has to be done once before anything else; tried again with the next call if it failed
 */
export function connect(
  client: LibsqlClient,
  prepare: () => Promise<void>,
  now: (() => EpochMs) | undefined,
  retentionMs: number,
): Connection {
  const underWay = new Set<Promise<unknown>>();
  let ready: Promise<void> | null = null;
  const ask = <T>(question: () => Promise<T>): Promise<T> => {
    ready ??= prepare();
    const answer = ready.then(question, (cause) => {
      ready = null;
      throw cause;
    });
    underWay.add(answer);
    const done = (): void => void underWay.delete(answer);
    answer.then(done, done);
    return answer;
  };
  return {
    retentionMs,
    walk: { after: "" },
    time: () => now?.() ?? null,
    execute: (statement) => ask(() => client.execute(statement)),
    write: (statements) => ask(() => writeUnstuck(client, statements)),
    idle: async () => {
      await Promise.allSettled(underWay);
    },
  };
}

/**
 * After a file was locked the driver keeps the statement that was refused until it is collected, and until then no
 * transaction on that connection can end. A new connection can.
 */
async function writeUnstuck(client: LibsqlClient, statements: LibsqlStatement[]): Promise<LibsqlResult[]> {
  try {
    return await client.batch(statements, "write");
  } catch (cause) {
    const isStuck = client.protocol === "file" && cause instanceof Error && cause.message.includes("SQL statements in progress");
    if (!isStuck || !client.reconnect) throw cause;
    await client.reconnect();
    return await client.batch(statements, "write");
  }
}
