import type { TransactionQuery } from "../../../ports/transaction-query.ts";
import { type LockLimit, lockLimitOf, withLockLimit } from "../../kit/no-answer.ts";
import { onceReady } from "../../kit/once-ready.ts";
import { endingQuery, inTransaction, isPool, type PostgresClient, preparedQuery, type Query } from "./postgres-client.ts";
import { checkLayout, migratePostgres } from "./postgres-schema.ts";

/** A row as every driver gives it: we select text only, because drivers differ in what they make of other types. */
export type TextRow = Readonly<Record<string, string | null>>;

type Ask = (text: string, values: readonly (string | null)[]) => Promise<readonly TextRow[]>;

/** Sends the statements of a store. */
export interface PostgresSession {
  /** In quotes. */
  readonly schema: string;
  readonly lockLimit: LockLimit;
  /** Sends one statement. The first call finds out whether the tables are there, and makes them if that was wished. */
  readonly ask: Ask;
  /**
   * The same for statements about many rows, whose plan depends on how many there are: it is never kept. One that was made
   * while the tables were empty would read the whole of them later.
   */
  readonly askAnew: Ask;
  /** Sends all statements of `work` in one transaction. Null if the client cannot. */
  readonly transact: (<T>(work: (own: PostgresSession, query: TransactionQuery) => Promise<T>) => Promise<T>) | null;
}

/** What a session depends on. */
export interface SessionOptions {
  readonly schema: string;
  readonly migrate: boolean;
  readonly prepare: boolean;
}

/** Sends statements over a client. */
export function postgresSession(client: PostgresClient, { schema, migrate, prepare }: SessionOptions): PostgresSession {
  const prepared = onceReady(() => (migrate ? migratePostgres(client, { schema }) : checkLayout({ query: endingQuery(client) }, schema)));
  const fresh = endingQuery(client);
  const asking = (query: Query): Ask => {
    return async (text, values) => {
      await prepared();
      return (await query(withLockLimit(text, session.lockLimit.ms), [...values])).rows as TextRow[];
    };
  };
  const session: PostgresSession = {
    schema: `"${schema}"`,
    lockLimit: lockLimitOf(client, 4_000),
    ask: asking(prepare ? preparedQuery(client) : fresh),
    askAnew: asking(fresh),
    transact: isPool(client)
      ? async (work) => {
          await prepared();
          return inTransaction(client, session.lockLimit.pauseMs, (query) => {
            const ask: Ask = async (text, values) => (await query(withLockLimit(text, session.lockLimit.ms), values)).rows as TextRow[];
            return work({ ...session, ask, askAnew: ask, transact: null }, query);
          });
        }
      : null,
  };
  return session;
}
