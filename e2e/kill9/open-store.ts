import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import pg from "pg";
import type { SnapshotStore } from "stepfold";
import { mysqlStore } from "stepfold/stores/mysql";
import { postgresStore } from "stepfold/stores/postgres";
import { redisStore } from "stepfold/stores/redis";
import { sqliteStore } from "stepfold/stores/sqlite";
import { type Freezer, freezingPool } from "./freezer.ts";

/** A store with the client that is its own. */
export interface OpenedStore {
  readonly store: SnapshotStore;
  close(): Promise<void>;
}

/** How it is opened. */
interface OpeningOptions {
  /** Makes the tables. */
  readonly migrate?: boolean;
  /** For stores that make a commit in several steps. */
  readonly freezer?: Freezer;
}

/** How long clients wait for a server that does not answer: longer than any statement takes here. */
export const answerMs = 3_000;

/**
 * Opens `sqlite:PATH`, `postgres://...?schema=NAME`, `mysql://.../DATABASE` or `redis://...?prefix=NAME`, with the bounds that docs/stores advises:
 * without them a connection that a router has forgotten keeps a call for ever.
 */
export async function openStore(text: string, { migrate = false, freezer }: OpeningOptions = {}): Promise<OpenedStore> {
  if (text.startsWith("sqlite:")) {
    const store = sqliteStore(text.slice("sqlite:".length));
    return { store, close: () => store.close() };
  }
  const url = new URL(text);
  if (url.protocol === "redis:") return openRedis(url);
  return url.protocol === "mysql:" ? openMysql(url, migrate, freezer) : openPostgres(url, migrate);
}

async function openPostgres(url: URL, migrate: boolean): Promise<OpenedStore> {
  const schema = url.searchParams.get("schema") ?? "stepfold";
  const pool = new pg.Pool({ ...postgresPlace(url), max: 8, connectionTimeoutMillis: answerMs, query_timeout: answerMs });
  pool.on("error", () => undefined);
  const store = postgresStore(pool, { schema, migrate });
  // tables are made with the first call
  if (migrate) await store.list({ limit: 1 });
  const close = async (): Promise<void> => {
    await store.close();
    await pool.end();
  };
  return { store, close };
}

/** Where a database is: what the schema in the URL is for, pg does not know. */
export function postgresPlace({ hostname, port, username, password, pathname }: URL) {
  return {
    host: hostname,
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
  };
}

async function openMysql({ href }: URL, migrate: boolean, freezer: Freezer | undefined): Promise<OpenedStore> {
  const pool = createPool({ uri: href, connectionLimit: 8, connectTimeout: answerMs });
  const store = mysqlStore(freezer ? freezingPool(pool, freezer) : pool, { migrate });
  if (migrate) await store.list({ limit: 1 });
  const close = async (): Promise<void> => {
    await store.close();
    await pool.end();
  };
  return { store, close };
}

async function openRedis({ hostname, port, searchParams }: URL): Promise<OpenedStore> {
  const redis = new Redis({
    host: hostname,
    port: Number(port),
    connectTimeout: answerMs,
    // the one ends the call, the other the connection
    commandTimeout: answerMs,
    socketTimeout: answerMs,
    maxRetriesPerRequest: 2,
  });
  redis.on("error", () => undefined);
  const store = redisStore(redis, { prefix: searchParams.get("prefix") ?? "stepfold", durable: true });
  const close = async (): Promise<void> => {
    await store.close();
    redis.disconnect();
  };
  return { store, close };
}
