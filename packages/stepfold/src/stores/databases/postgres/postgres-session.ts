import { requireMethods } from "../../../core/values/check-arguments.ts";
import type { TransactionQuery } from "../../../ports/transaction-query.ts";
import { type LockLimit, lockLimitOf } from "../../kit/lock-limit.ts";
import { onceReady } from "../../kit/once-ready.ts";
import { canPrepare, inTransaction, isPool, type PostgresClient, preparedQuery, type Query, timedQuery } from "./postgres-client.ts";
import { checkLayout, checkSchema, migratePostgres } from "./postgres-schema.ts";

/** A row. The statements select only text, because drivers convert other types differently. */
export type TextRow = Readonly<Record<string, string | null>>;

/** Sends a statement with its parameters, and returns its rows. */
type Ask = (text: string, values: readonly (string | null)[]) => Promise<readonly TextRow[]>;

/** Sends the statements of a store. */
export interface PostgresSession {
  /** The name of the schema, in double quotes. */
  readonly schema: string;
  /** How long a statement may wait for rows that other transactions have locked. */
  readonly lockLimit: LockLimit;
  /** Sends one statement. Before the first statement, the session checks that the tables exist; with `migrate` it creates them. */
  readonly ask: Ask;
  /**
   * Sends one statement about many rows. The server does not keep its plan, because the best plan depends on the number of rows: a plan
   * that was made while the tables were empty would read whole tables later.
   */
  readonly askUnprepared: Ask;
  /** Runs all statements of `work` in one transaction. Null if the client is not a pool, and in the session of a transaction. */
  readonly transact: (<T>(work: (own: PostgresSession, query: TransactionQuery) => Promise<T>) => Promise<T>) | null;
}

/** The settings of a session. */
export interface SessionOptions {
  /** The name of the schema, without quotes. */
  readonly schema: string;
  /** True: the first call creates the tables. False: it only checks that they exist. */
  readonly migrate: boolean;
  /** True: the server keeps the plans of the statements that `ask` sends. Default: if the client looks like one of pg. */
  readonly prepare?: boolean | undefined;
}

/** Returns a session that sends its statements over a client. */
export function postgresSession(client: PostgresClient, options: SessionOptions): PostgresSession {
  requireMethods("client", client, "a Pool or Client of pg, or a client like it", ["query"]);
  const { schema, migrate, prepare = canPrepare(client) } = options;
  checkSchema(schema);
  const prepared = onceReady(() => (migrate ? migratePostgres(client, { schema }) : checkLayout({ query: timedQuery(client) }, schema)));
  const fresh = timedQuery(client);
  const asking = (query: Query): Ask => {
    return async (text, values) => {
      await prepared();
      return (await query(text, [...values])).rows as TextRow[];
    };
  };
  const session: PostgresSession = {
    schema: `"${schema}"`,
    // 4 s at most; shorter leases lower the limit
    lockLimit: lockLimitOf(client, 4_000),
    ask: asking(prepare ? preparedQuery(client) : fresh),
    askUnprepared: asking(fresh),
    transact: isPool(client)
      ? async (work) => {
          await prepared();
          return inTransaction(client, session.lockLimit.transactionIdleMs, (query) => {
            const ask: Ask = async (text, values) => (await query(text, values)).rows as TextRow[];
            return work({ ...session, ask, askUnprepared: ask, transact: null }, query);
          });
        }
      : null,
  };
  return session;
}
