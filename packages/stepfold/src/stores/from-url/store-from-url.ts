import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { refuseUnknown } from "../../core/values/check-arguments.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { invalidUrl } from "../../urls/address.ts";
import { withoutSecrets } from "../../urls/public-url.ts";
import { unknownScheme } from "../../urls/written-url.ts";
import { doneOrGivenUp } from "../kit/no-answer.ts";
import { parseStoreUrl } from "./parse-store-url.ts";
import type { Site, StoreOfUrlOptions } from "./site.ts";

type Connect = (url: string) => Promise<Site>;

/** The functions that connect to a database, by the scheme of a URL. Each file is loaded only when it is needed. */
const schemes: Readonly<Record<string, () => Promise<Connect>>> = {
  memory: async () => (await import("./connect-memory.ts")).connectMemory,
  sqlite: async () => (await import("./connect-sqlite.ts")).connectSqlite,
  postgres: async () => (await import("./connect-postgres.ts")).connectPostgres,
  postgresql: async () => (await import("./connect-postgres.ts")).connectPostgres,
  mysql: async () => (await import("./connect-mysql.ts")).connectMysql,
  mariadb: async () => (await import("./connect-mysql.ts")).connectMysql,
  redis: async () => (await import("./connect-redis.ts")).connectRedis,
  rediss: async () => (await import("./connect-redis.ts")).connectRedis,
  upstash: async () => (await import("./connect-upstash.ts")).connectUpstash,
  libsql: async () => (await import("./connect-libsql.ts")).connectLibsql,
  mongodb: async () => (await import("./connect-mongo.ts")).connectMongo,
  "mongodb+srv": async () => (await import("./connect-mongo.ts")).connectMongo,
  dynamodb: async () => (await import("./connect-dynamo.ts")).connectDynamo,
};

/**
 * Opens the store of a URL, with a client of its own, which `close()` ends too. It is meant for commands and servers; a program that has
 * a client already passes it to the function of the store, such as `postgresStore`.
 *
 * | URL | package it needs |
 * | --- | --- |
 * | `app.db`, `sqlite:app.db` | none |
 * | `postgres://user:password@host/database?schema=stepfold` | `pg` |
 * | `mysql://user:password@host/database?prefix=stepfold_`, `mariadb://…` | `mysql2` |
 * | `redis://host:6379/0?prefix=stepfold`, `rediss://…` | `ioredis` or `redis` |
 * | `upstash://:TOKEN@host?prefix=stepfold` | `@upstash/redis` |
 * | `libsql://host?authToken=TOKEN`, `libsql:file:app.db` | `@libsql/client` |
 * | `mongodb://host/database?prefix=stepfold_` | `mongodb` |
 * | `dynamodb://region/table?endpoint=http://127.0.0.1:8000` | `@aws-sdk/client-dynamodb`, `@aws-sdk/lib-dynamodb` |
 * | `memory:` | none |
 *
 * ```ts
 * import { storeFromUrl } from "stepfold/stores/from-url";
 *
 * const store = await storeFromUrl("memory:");
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID` for a URL that is not valid or names no known store, `DRIVER_MISSING` if its package is not
 * installed; `STORE_UNAVAILABLE` or `STORE_REJECTED` if the database is asked now. Most databases are asked by the first call of the store,
 * which then rejects with these (`STORE_REJECTED` for example if tables are missing: see `migrate`)
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export async function storeFromUrl(url: string, options: StoreOfUrlOptions = {}): Promise<SnapshotStore> {
  refuseUnknown("storeFromUrl", options, ["migrate", "idempotencyRetentionMs"]);
  const site = await siteFromUrl(url);
  try {
    const store = await site.open(site.space, options);
    return {
      ...store,
      async close() {
        try {
          await store.close();
        } finally {
          await site.close();
        }
      },
    };
  } catch (error) {
    await site.close().catch(() => undefined);
    throw error;
  }
}

/** Makes the client for the database that a URL names. @throws StepfoldError as `storeFromUrl` */
export async function siteFromUrl(text: string): Promise<Site> {
  const written = parseStoreUrl(text);
  const { url, scheme } = written;
  const named = scheme ?? "sqlite";
  const connect = Object.hasOwn(schemes, named) ? schemes[named] : undefined;
  if (!connect) throw unknownScheme(written, Object.keys(schemes), "store");
  try {
    return once(await (await connect())(url));
  } catch (error) {
    if (StepfoldError.is(error)) throw error;
    // the driver refuses the URL before it connects, and its message may quote the URL
    const said = error instanceof Error ? error.message : String(error);
    throw invalidUrl(`is not accepted by the driver: ${withoutSecrets(said, url)}`);
  }
}

/** How long to wait until a client is closed, because a dead connection never acknowledges it. */
const maxCloseMs = 10_000;

/** Returns the site with a `close` that ends the client once, however often it is called, and waits for at most `maxCloseMs`. */
function once(site: Site): Site {
  let closing: Promise<void> | null = null;
  return {
    ...site,
    close() {
      closing ??= doneOrGivenUp(site.close(), maxCloseMs);
      return closing;
    },
  };
}
