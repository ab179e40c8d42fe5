import { aFunction, aTime, checkOptions } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { databaseClock } from "../sqlite-dialect/batch-session.ts";
import { SqliteTable } from "../sqlite-dialect/sqlite-table.ts";
import type { LibsqlClient } from "./libsql-client.ts";
import { failsForEveryWrite, libsqlError } from "./libsql-error.ts";
import { aMigration, libsqlSession } from "./libsql-session.ts";

/** The largest value in bytes. SQLite limits a row to a billion bytes, of which the other columns need some. */
const maxValueBytes = 900_000_000;

/** How a libSQL store behaves. */
export interface LibsqlStoreOptions extends RetentionOptions {
  /**
   * Whether the first call creates the tables. Default `"auto"`: it creates them in a file or in memory, but not on a server, where
   * `migrateLibsql(client)` does it once.
   */
  readonly migrate?: boolean | "auto" | undefined;
  /** The clock that judges leases and due times, in epoch milliseconds. Default: the database's, because a server is another machine. */
  readonly now?: (() => EpochMs) | undefined;
}

/**
 * A store in a libSQL database: a file, memory, sqld or Turso, through a client of `@libsql/client` that you close yourself.
 *
 * A commit is one batch, which is one transaction and, on a server, one round trip; commits issued together share it.
 * The tables and views are those of `stepfold/stores/sqlite`, and a file written by one opens with the other: the view
 * `workflow_executions` shows every execution as one JSON document.
 *
 * ```ts
 * import { createClient } from "@libsql/client";
 * import { libsqlStore } from "stepfold/stores/libsql";
 *
 * const client = createClient({ url: "file:workflows.db", timeout: 5000 });
 * const store = libsqlStore(client);
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * client.close();
 * ```
 *
 * Calls reject with `STORE_UNAVAILABLE` if the server does not answer or another connection holds the lock, and with
 * `STORE_REJECTED` if the tables are missing or were made by another version.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function libsqlStore(client: LibsqlClient, options: LibsqlStoreOptions = {}): SnapshotStore {
  checkOptions("libsqlStore", options, { migrate: aMigration, now: aFunction, idempotencyRetentionMs: aTime });
  const { migrate = "auto", idempotencyRetentionMs, now } = options;
  const table = new SqliteTable(libsqlSession(client, migrate, now), {
    name: "libsql",
    features: { clock: "store", durable: true, multiProcess: true, permits: true },
    now: databaseClock,
    textSql: (column) => `json_quote(${column})`,
    readText: (value) => JSON.parse(value) as string,
    grouping: { maxWrites: 64, isOutage: failsForEveryWrite },
  });
  return storeOver(table, { idempotencyRetentionMs, errorOf: libsqlError, maxValueBytes });
}
