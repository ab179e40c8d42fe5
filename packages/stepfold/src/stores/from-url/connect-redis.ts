import type { IoredisClient, NodeRedisClient, RedisClient } from "../redis/redis-client.ts";
import { importOneOf } from "./import-driver.ts";
import { type Site, takeParameter } from "./site.ts";

interface Listening {
  on(event: "error", listener: () => void): unknown;
}

interface Drivers extends Readonly<Record<string, unknown>> {
  readonly ioredis: { readonly Redis: new (url: string) => IoredisClient & Listening & Commanding & { quit(): Promise<unknown> } };
  readonly redis: {
    readonly createClient: (config: {
      url: string;
    }) => NodeRedisClient &
      Listening & { connect(): Promise<unknown>; close(): Promise<unknown>; sendCommand(words: string[]): Promise<unknown> };
  };
}

interface Commanding {
  call(command: string, ...words: string[]): Promise<unknown>;
}

interface Opened {
  readonly client: RedisClient;
  command(words: readonly [string, ...string[]]): Promise<unknown>;
  close(): Promise<void>;
}

/** `redis://host:6379/0?prefix=stepfold`, `rediss://…`, with `ioredis` or `redis`. */
export async function connectRedis(text: string): Promise<Site> {
  const url = new URL(text);
  const prefix = takeParameter(url, "prefix", "stepfold");
  const { redisStore } = await import("../redis/redis-store.ts");
  const { client, command, close } = await openClient(url.href);
  return {
    name: "redis",
    space: prefix,
    hasSpaces: true,
    open: async (space, { idempotencyRetentionMs }) =>
      redisStore(client, { prefix: space, ...(idempotencyRetentionMs !== undefined && { idempotencyRetentionMs }) }),
    drop: (space) => dropKeys(space, command),
    migrations: async () => null,
    close,
  };
}

async function openClient(url: string): Promise<Opened> {
  const driver = await importOneOf<Drivers>(["ioredis", "redis"], "redis");
  if (driver.name === "ioredis") {
    const { Redis } = driver.module as Drivers["ioredis"];
    const client = new Redis(url);
    // every call tells of it
    client.on("error", () => undefined);
    const close = async (): Promise<void> => {
      await client.quit();
    };
    return { client, command: ([name, ...words]) => client.call(name, ...words), close };
  }
  const client = (driver.module as Drivers["redis"]).createClient({ url });
  client.on("error", () => undefined);
  await client.connect();
  const close = async (): Promise<void> => {
    await client.close();
  };
  return { client, command: (words) => client.sendCommand([...words]), close };
}

/** Deletes what a store with this prefix wrote. */
export async function dropKeys(prefix: string, command: (words: readonly [string, ...string[]]) => Promise<unknown>): Promise<void> {
  for (let cursor = "0"; ; ) {
    const [next, keys] = (await command(["SCAN", cursor, "MATCH", `{${prefix}}:*`, "COUNT", "500"])) as [string | number, string[]];
    if (keys.length > 0) await command(["DEL", ...keys]);
    cursor = String(next);
    if (cursor === "0") return;
  }
}
