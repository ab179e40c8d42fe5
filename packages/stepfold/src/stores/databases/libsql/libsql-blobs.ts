import type { BlobStore } from "../../../ports/blob-store.ts";
import { blobsOver } from "../../kit/blobs/blob-table.ts";
import {
  blobPageStatement,
  blobStatement,
  deleteBlobsStatement,
  maxSqliteBlobBytes,
  putBlobStatement,
} from "../sqlite-dialect/blob-statements.ts";
import type { SqlRow } from "../sqlite-dialect/statement.ts";
import type { LibsqlClient } from "./libsql-client.ts";
import { libsqlError } from "./libsql-error.ts";
import { checkLayout, migrateLibsql } from "./libsql-schema.ts";
import { databaseClock, libsqlSession } from "./libsql-session.ts";

/** How blobs in libSQL behave. */
export interface LibsqlBlobsOptions {
  /** As for `libsqlStore`. */
  readonly migrate?: boolean | "auto";
}

/**
 * Blobs in the table `blobs` of a libSQL database: a file, memory, sqld or Turso, through a client of `@libsql/client` that
 * stays yours. `migrateLibsql(client)` makes the table with the others.
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
 * A blob of more than 999,000,000 bytes is `LIMIT_EXCEEDED`; a server may take less in one request. Calls reject as those
 * of `libsqlStore` do.
 */
export function libsqlBlobs(client: LibsqlClient, { migrate = "auto" }: LibsqlBlobsOptions = {}): BlobStore {
  const migrates = migrate === "auto" ? client.protocol === "file" : migrate;
  const session = libsqlSession(client, () => (migrates ? migrateLibsql(client) : checkLayout(client)), undefined);
  const rowsOf = async (text: string, ...values: (string | number | Uint8Array)[]): Promise<readonly SqlRow[]> =>
    (await session.read([{ text, values }]))[0]!;
  const put = putBlobStatement(databaseClock);
  return blobsOver(
    {
      name: "libsql",
      maxBytes: () => maxSqliteBlobBytes,
      async put(key, bytes) {
        await rowsOf(put, key, bytes);
      },
      async get(key) {
        const [row] = await rowsOf(blobStatement, key);
        return row ? new Uint8Array(row.bytes as ArrayBuffer) : null;
      },
      async deleteBetween(from, before) {
        await rowsOf(deleteBlobsStatement, from, before);
      },
      async page(after, limit) {
        const rows = await rowsOf(blobPageStatement, after, limit);
        return rows.map(({ key, writtenAt }) => ({ key: key as string, writtenAt: Number(writtenAt) }));
      },
    },
    libsqlError,
  );
}
