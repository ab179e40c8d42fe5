import { parsedUrl, poolSize, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { PostgresClient } from "../databases/postgres/postgres-client.ts";
import type { Site } from "./site.ts";

interface Pg {
  readonly default: {
    readonly Pool: new (config: {
      connectionString: string;
      max: number;
      connectionTimeoutMillis: number;
      query_timeout: number;
      statement_timeout: number;
      lock_timeout: number;
    }) => PostgresClient & { end(): Promise<void>; on(event: "error", listener: () => void): unknown };
  };
}

/** Connects to `postgres://user:password@host:port/database?schema=stepfold&pool=20` with `pg`. */
export async function connectPostgres(text: string): Promise<Site> {
  const { url, taken } = takeParameters(text, { schema: "stepfold", pool: "20" });
  const max = poolSize(taken.pool);
  // the driver accepts a URL without a host, as with ?host=/var/run/postgresql, but the URL parser does not
  parsedUrl(url.replace("@/", "@localhost/"));
  const { checkSchema } = await import("../databases/postgres/postgres-schema.ts");
  const { postgresMigrations } = await import("../databases/postgres/postgres-schema.ts");
  const { postgresStore } = await import("../databases/postgres/postgres-store.ts");
  const { Pool } = (await importDriver<Pg>("pg", "postgres")).default;
  // the first two end a call whose packets are lost; the last two make the server stop before that, so that no write is made long after
  const timeouts = { connectionTimeoutMillis: 10_000, query_timeout: 10_000, statement_timeout: 9_000, lock_timeout: 8_000 };
  const pool = new Pool({ connectionString: url, max, ...timeouts });
  // an idle connection that ends is replaced by the next call; without a listener its error would end the process
  pool.on("error", () => undefined);
  return {
    name: "postgres",
    space: taken.schema,
    hasSpaces: true,
    open: async (space, options) => postgresStore(pool, { ...options, schema: space }),
    async drop(space) {
      checkSchema(space);
      await dropSchema(pool, space);
    },
    migrations: async (space) => postgresMigrations(space),
    close: () => pool.end(),
  };
}

/** Drops a schema. This takes the locks of many tables, so after a deadlock (40P01) with another session it is tried again. */
async function dropSchema(pool: PostgresClient, schema: string, tries = 5): Promise<void> {
  try {
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`, []);
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "40P01" || tries === 1) throw cause;
    await dropSchema(pool, schema, tries - 1);
  }
}
