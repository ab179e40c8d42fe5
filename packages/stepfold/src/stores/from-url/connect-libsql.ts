import type { LibsqlClient } from "../libsql/libsql-client.ts";
import { importDriver } from "./import-driver.ts";
import { type Site, takeParameter } from "./site.ts";

interface Driver {
  readonly createClient: (config: { url: string; authToken?: string; timeout?: number }) => LibsqlClient & { close(): void };
}

/** `libsql://host?authToken=TOKEN`, `libsql:http://127.0.0.1:8080`, `libsql:file:app.db`, with `@libsql/client`. */
export async function connectLibsql(text: string): Promise<Site> {
  const { libsqlStore } = await import("../libsql/libsql-store.ts");
  const { libsqlMigrations } = await import("../libsql/migrate-libsql.ts");
  const { createClient } = await importDriver<Driver>("@libsql/client", "libsql");
  const url = new URL(text.replace(/^libsql:(?!\/\/)/, ""));
  const authToken = takeParameter(url, "authToken", "");
  // a file that another process writes to is waited for
  const client = createClient({
    url: url.href,
    ...(authToken !== "" && { authToken }),
    ...(url.protocol === "file:" && { timeout: 5_000 }),
  });
  const space = "main";
  return {
    name: "libsql",
    space,
    hasSpaces: false,
    async open(_space, { migrate = false, idempotencyRetentionMs }) {
      return libsqlStore(client, {
        migrate: migrate || "auto",
        ...(idempotencyRetentionMs !== undefined && { idempotencyRetentionMs }),
      });
    },
    drop: async () => undefined,
    migrations: async () => libsqlMigrations(),
    close: async () => client.close(),
  };
}
