import { aFlag, aText, aTime, checkOptions } from "../../../core/values/check-arguments.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { postgresError } from "./postgres-error.ts";
import { postgresSession } from "./postgres-session.ts";
import { PostgresTable } from "./postgres-table.ts";

/** How a PostgreSQL store behaves. */
export interface PostgresStoreOptions extends RetentionOptions {
  /** The schema that holds the tables: at most 48 letters, digits and underscores. Default `stepfold`. */
  readonly schema?: string | undefined;
  /** Whether the first call creates the tables if they are missing. Default false: the deployment creates them, see `migratePostgres`. */
  readonly migrate?: boolean | undefined;
  /**
   * Whether the server keeps the plans of statements, which makes a single commit about 50 % faster. The client must accept
   * `{ name, text, values }`. Default: true if the client is, or looks like, a `Pool` or `Client` of pg; else false. Behind a
   * pooler that does not support prepared statements, the store notices this and continues without them.
   */
  readonly prepare?: boolean | undefined;
}

/**
 * A store in PostgreSQL 13 or later, for any number of processes. You provide the client: a `Pool` or `Client` of pg,
 * Neon's `Pool`, PGlite, or any other client with the same `query(text, values)`. `close()` does not end the client.
 *
 * An acknowledged commit is as durable as the server makes its commits: with `synchronous_commit = on`, the default, it
 * survives a crash and a power loss. The server's clock decides about leases and due times. With few exceptions, a call is one
 * statement in one round trip; commits that are issued while other commits are under way share a statement.
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
 * The store's methods reject with `STORE_UNAVAILABLE` if the database does not answer, closes the connection, or has no
 * connection left; with `STORE_REJECTED` if the tables are missing or of another version, or the user may not use them; and
 * with `LIMIT_EXCEEDED` for a head, event or child of more than 16 MiB.
 *
 * @throws StepfoldError `OPTION_INVALID` if `schema` is not a valid name
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): SnapshotStore {
  checkOptions("postgresStore", options, { schema: aText, migrate: aFlag, prepare: aFlag, idempotencyRetentionMs: aTime });
  const { schema = "stepfold", migrate = false, prepare, idempotencyRetentionMs } = options;
  const table = new PostgresTable(postgresSession(client, { schema, migrate, prepare }));
  return storeOver(table, { idempotencyRetentionMs, errorOf: postgresError });
}
