import type { TransactionQuery } from "../../ports/transaction-query.ts";
import { readLayout } from "./layout.ts";
import { migratePostgres } from "./migrate-postgres.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { preparing, type Query } from "./prepared-statement.ts";
import { type Statements, statementsOf } from "./statements.ts";
import { inTransaction, isPool } from "./transaction.ts";

/** A row as every driver gives it: we select text only, because drivers differ in what they make of other types. */
export type TextRow = Readonly<Record<string, string | null>>;

type Ask = (text: string, values: readonly (string | null)[]) => Promise<readonly TextRow[]>;

/** @param work gets the connection on which alone it may ask, and what others need to join in */
type Transact = <T>(work: (own: Connection, query: TransactionQuery) => Promise<T>) => Promise<T>;

/** A client, the statements for one schema, and what they depend on. */
export interface Connection {
  readonly sql: Statements;
  /** Whole milliseconds. */
  readonly retentionMs: string;
  /** Sends one statement. The first call finds out whether the tables are there, and makes them if that was wished. */
  readonly ask: Ask;
  /**
   * The same for statements about many rows, whose plan depends on how many there are: it is never kept. One that was made
   * while the tables were empty would read the whole of them later.
   */
  readonly askAnew: Ask;
  /** Sends all statements of `work` in one transaction. Null if the client cannot. */
  readonly transact: Transact | null;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** What a connection depends on. */
export interface ConnectionOptions {
  readonly schema: string;
  readonly migrate: boolean;
  readonly prepare: boolean;
  readonly retentionMs: number;
}

/** Uses a client that was handed in. */
export function connect(client: PostgresClient, { schema, migrate, prepare, retentionMs }: ConnectionOptions): Connection {
  const fresh: Query = (text, values) => client.query(text, values);
  const kept: Query = prepare ? preparing(client) : fresh;
  const underWay = new Set<Promise<unknown>>();
  let ready: Promise<void> | null = null;

  const makeReady = async (): Promise<void> => {
    if (migrate) await migratePostgres(client, { schema });
    else await readLayout(client, schema);
  };
  const prepared = (): Promise<void> => {
    // what failed is tried again by the next call
    ready ??= makeReady().catch((cause: unknown) => {
      ready = null;
      throw cause;
    });
    return ready;
  };
  const send = async (query: Query, text: string, values: readonly (string | null)[]): Promise<readonly TextRow[]> => {
    await prepared();
    return (await query(text, [...values])).rows as TextRow[];
  };
  const asking =
    (query: Query): Ask =>
    async (text, values) => {
      const asked = send(query, text, values);
      underWay.add(asked);
      try {
        return await asked;
      } finally {
        underWay.delete(asked);
      }
    };

  const transact = async <T>(work: (own: Connection, query: TransactionQuery) => Promise<T>): Promise<T> => {
    await prepared();
    return inTransaction(client as Parameters<typeof inTransaction>[0], (query) => {
      const ask: Ask = async (text, values) => (await query(text, values)).rows as TextRow[];
      return work({ ...connection, ask, askAnew: ask, transact: null }, query);
    });
  };

  const connection: Connection = {
    sql: statementsOf(schema),
    retentionMs: String(retentionMs),
    ask: asking(kept),
    askAnew: asking(fresh),
    transact: isPool(client) ? transact : null,
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
  return connection;
}
