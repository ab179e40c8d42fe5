import { parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { LibsqlClient } from "../databases/libsql/libsql-client.ts";
import { answerLimitMs } from "./answer-limit.ts";
import type { Site } from "./site.ts";

interface Driver {
  readonly createClient: (config: {
    url: string;
    authToken?: string;
    timeout?: number;
    fetch?: (request: Request) => Promise<Response>;
  }) => LibsqlClient & { close(): void };
}

/** Connects to `libsql://host?authToken=TOKEN`, `libsql:http://127.0.0.1:8080` or `libsql:file:app.db` with `@libsql/client`. */
export async function connectLibsql(text: string, answerMs: number = answerLimitMs): Promise<Site> {
  const address = text.replace(/^libsql:(?!\/\/)/i, "");
  // a path may be relative, which a URL parser does not accept
  const isLocal = /^(file:|:memory:$)/.test(address);
  const { url, taken } = takeParameters(address, { authToken: "" });
  if (!isLocal) parsedUrl(url);
  const { libsqlStore } = await import("../databases/libsql/libsql-store.ts");
  const { libsqlMigrations } = await import("../databases/libsql/libsql-schema.ts");
  const { createClient } = await importDriver<Driver>("@libsql/client", "libsql");
  // for a file, `timeout` is how long to wait while another process writes to it
  const client = createClient({
    url,
    ...(taken.authToken !== "" && { authToken: taken.authToken }),
    ...(isLocal ? { timeout: 5_000 } : { fetch: (request) => fetch(request, { signal: AbortSignal.timeout(answerMs) }) }),
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
