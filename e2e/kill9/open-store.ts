import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import pg from "pg";
import type { SnapshotStore } from "stepfold";
import { mysqlStore } from "stepfold/stores/mysql";
import { postgresStore } from "stepfold/stores/postgres";
import { redisStore } from "stepfold/stores/redis";
import { sqliteStore } from "stepfold/stores/sqlite";
import { type Freezer, freezingPool } from "./freezer.ts";

/** A store and the client that belongs to it. */
export interface OpenedStore {
  readonly store: SnapshotStore;
  close(): Promise<void>;
}

/** The options for opening a store. */
interface OpeningOptions {
  /** Creates the tables. */
  readonly migrate?: boolean;
  /** Stops the process in the middle of a commit. Only stores that commit in several steps use it here. */
  readonly freezer?: Freezer;
}

/** How long clients wait for an answer of a server, in milliseconds; longer than any statement takes here. */
export const answerMs = 3_000;

/**
 * Opens `sqlite:PATH`, `postgres://...?schema=NAME`, `mysql://.../DATABASE` or `redis://...?prefix=NAME`, with the time limits that
 * docs/stores recommends. Without them a call on a dead connection would never end.
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
  const pool = new pg.Pool({ ...postgresPlace(url), max: 4, connectionTimeoutMillis: answerMs, query_timeout: answerMs });
  pool.on("error", () => undefined);
  const store = postgresStore(pool, { schema, migrate });
  // the first call creates the tables
  if (migrate) await store.list({ limit: 1 });
  const close = async (): Promise<void> => {
    await store.close();
    await pool.end();
  };
  return { store, close };
}

/** Returns the connection options of a URL without its parameter `schema`, which pg does not know. */
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
    // the first limit ends the call, the second one the connection
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
