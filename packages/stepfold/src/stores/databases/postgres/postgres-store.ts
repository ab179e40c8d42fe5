import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { canPrepare, type PostgresClient } from "./postgres-client.ts";
import { postgresError } from "./postgres-error.ts";
import { checkSchema } from "./postgres-schema.ts";
import { postgresSession } from "./postgres-session.ts";
import { PostgresTable } from "./postgres-table.ts";

/** How a PostgreSQL store behaves. */
export interface PostgresStoreOptions extends RetentionOptions {
  /** Where the tables are: letters, digits and underscores, at most 48. Default `stepfold`. */
  readonly schema?: string;
  /** Makes the tables, or brings them up to date, with the first call. Default false: a deployment does it, see `migratePostgres`. */
  readonly migrate?: boolean;
  /**
   * Lets the server keep the plans of the statements, which makes a lone commit about half as fast again. The client has to
   * take `{ name, text, values }`. Default: true for a `Pool` or `Client` of pg, or what looks like one, else false. Behind a
   * pooler that cannot have it, the store finds out and goes on without.
   */
  readonly prepare?: boolean;
}

/**
 * A store in PostgreSQL 13 or later, for any number of processes. The client is yours: a `Pool` or `Client` of pg,
 * Neon's, PGlite, or anything else with their `query(text, values)`. `close()` does not end it.
 *
 * An acknowledged commit is as durable as the server makes its commits: with `synchronous_commit = on`, the default, it
 * survives a crash and a power loss. Leases and due times are judged by the server's clock. Every call is one statement,
 * and with few exceptions one round trip; commits that are issued while others are under way share one.
 *
 * The view `workflow_executions` shows every execution as one JSON document:
 * `SELECT id, snapshot -> 'metadata' ->> 'customer' FROM stepfold.workflow_executions WHERE status = 'failed'`.
 *
 * ```ts
 * import { Pool } from "pg";
 * import { postgresStore } from "stepfold/stores/postgres";
 *
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const store = postgresStore(pool, { migrate: true });
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * await pool.end();
 * ```
 *
 * The store's methods reject with `STORE_UNAVAILABLE` if the database does not answer, breaks off, or has no connection
 * left; with `STORE_REJECTED` if the tables are missing or of another version, or the user may not use them; and with
 * `LIMIT_EXCEEDED` for a head, event or child of more than 16 MiB.
 *
 * @throws StepfoldError `OPTION_INVALID` for a schema that is no such name
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): SnapshotStore {
  const { schema = "stepfold", migrate = false, prepare = canPrepare(client), idempotencyRetentionMs } = options;
  checkSchema(schema);
  const table = new PostgresTable(postgresSession(client, { schema, migrate, prepare }));
  return storeOver(table, { idempotencyRetentionMs, errorOf: postgresError });
}
