import { checkOptions } from "../../../core/values/check-arguments.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { databaseClock } from "../sqlite-dialect/batch-session.ts";
import { blobsIn } from "../sqlite-dialect/sqlite-blob-table.ts";
import type { LibsqlClient } from "./libsql-client.ts";
import { libsqlError } from "./libsql-error.ts";
import { aMigration, libsqlSession } from "./libsql-session.ts";
import type { LibsqlStoreOptions } from "./libsql-store.ts";

/** Options of blobs in libSQL: whether the first call creates the tables. */
export type LibsqlBlobsOptions = Pick<LibsqlStoreOptions, "migrate">;

/**
 * Blobs in the table `blobs` of a libSQL database: a file, memory, sqld or Turso, through a client of `@libsql/client` that
 * you close yourself. `migrateLibsql(client)` creates the table together with the others.
 *
 * ```ts
 * import { createClient } from "@libsql/client";
 * import { blobbedStore } from "stepfold/stores/blobs";
 * import { libsqlBlobs, libsqlStore } from "stepfold/stores/libsql";
 *
 * const client = createClient({ url: "file:workflows.db", timeout: 5000 });
 * const store = blobbedStore(libsqlStore(client), libsqlBlobs(client));
 * console.log(await store.load("order-1")); // null
 * ```
 *
 * A blob of more than 999,000,000 bytes is refused with `LIMIT_EXCEEDED`; a server may accept less in one request. Apart from
 * that, calls reject with the same errors as those of `libsqlStore`.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function libsqlBlobs(client: LibsqlClient, options: LibsqlBlobsOptions = {}): BlobStore {
  checkOptions("libsqlBlobs", options, { migrate: aMigration });
  return blobsIn(libsqlSession(client, options.migrate ?? "auto"), "libsql", databaseClock, libsqlError);
}
