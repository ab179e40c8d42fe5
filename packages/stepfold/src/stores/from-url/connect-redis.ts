import { invalidUrl, parsedUrl, takeParameters } from "../../urls/address.ts";
import { importOneOf } from "../../urls/import-driver.ts";
import type { IoredisClient, NodeRedisClient, RedisClient } from "../databases/redis/redis-client.ts";
import { serverError } from "../databases/redis/redis-error.ts";
import { answerLimitMs } from "./answer-limit.ts";
import type { Site } from "./site.ts";

interface Listening {
  on(event: "error", listener: () => void): unknown;
}

interface Ioredis extends IoredisClient, Listening {
  readonly status: string;
  call(command: string, ...words: string[]): Promise<unknown>;
  quit(): Promise<unknown>;
  disconnect(): void;
}

type NodeRedis = NodeRedisClient &
  Listening & {
    connect(): Promise<unknown>;
    close(): Promise<unknown>;
    destroy(): void;
    sendCommand(words: string[]): Promise<unknown>;
  };

interface IoredisOptions {
  readonly maxRetriesPerRequest: number;
  readonly commandTimeout: number;
  readonly socketTimeout: number;
}

/** The parts of the two drivers that are used. */
export interface RedisDrivers extends Readonly<Record<string, unknown>> {
  readonly ioredis: { readonly Redis: new (url: string, options: IoredisOptions) => Ioredis };
  readonly redis: {
    readonly createClient: (config: { url: string; socket: { reconnectStrategy(retries: number): number | false } }) => NodeRedis;
  };
}

interface Opened {
  readonly client: RedisClient;
  command(words: readonly [string, ...string[]]): Promise<unknown>;
  close(): Promise<void>;
}

/** Connects to `redis://host:6379/0?prefix=stepfold` or `rediss://…` with `ioredis` or `redis`. */
export async function connectRedis(text: string): Promise<Site> {
  const { url, taken } = takeParameters(text, { prefix: "stepfold" });
  parsedUrl(url);
  const { redisStore } = await import("../databases/redis/redis-store.ts");
  const { client, command, close } = await openClient(url);
  return {
    name: "redis",
    space: taken.prefix,
    hasSpaces: true,
    open: async (space, { idempotencyRetentionMs }) =>
      redisStore(client, { prefix: space, ...(idempotencyRetentionMs !== undefined && { idempotencyRetentionMs }) }),
    drop: (space) => dropKeys(space, command),
    migrations: async () => null,
    close,
  };
}

async function openClient(url: string): Promise<Opened> {
  const driver = await importOneOf<RedisDrivers>(["ioredis", "redis"], "redis");
  return driver.name === "ioredis"
    ? openIoredis(driver.module as RedisDrivers["ioredis"], url)
    : openNodeRedis(driver.module as RedisDrivers["redis"], url);
}

function openIoredis({ Redis }: RedisDrivers["ioredis"], url: string): Opened {
  // after a short interruption a call is repeated, after a longer one it fails. The timeouts end a call whose packets are lost
  const client = new Redis(url, { maxRetriesPerRequest: 6, commandTimeout: answerLimitMs, socketTimeout: answerLimitMs });
  // without a listener the client would print each error; the calls in flight reject with it anyway
  client.on("error", () => undefined);
  const close = async (): Promise<void> => {
    // without a connection `quit` would wait for one
    if (client.status === "ready") await client.quit().catch(() => undefined);
    client.disconnect();
  };
  return { client, command: ([name, ...words]) => client.call(name, ...words), close };
}

/** Opens a client and connects it. @throws StepfoldError `STORE_UNAVAILABLE`, `STORE_REJECTED` if the server refuses the connection */
export async function openNodeRedis({ createClient }: RedisDrivers["redis"], url: string): Promise<Opened> {
  let wasConnected = false;
  // if the first connection fails, the client gives up at once; a connection that is lost later is opened again
  const reconnectStrategy = (retries: number): number | false => wasConnected && Math.min(50 * 2 ** Math.min(retries, 6), 2_000);
  const client = createClient({ url, socket: { reconnectStrategy } });
  // without a listener an error would end the process
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (cause) {
    client.destroy();
    throw serverError("redis", cause);
  }
  wasConnected = true;
  const close = async (): Promise<void> => {
    await client.close();
  };
  return { client, command: (words) => client.sendCommand([...words]), close };
}

/** Deletes all keys of a store with this prefix. @throws StepfoldError `OPTION_INVALID` */
async function dropKeys(prefix: string, command: (words: readonly [string, ...string[]]) => Promise<unknown>): Promise<void> {
  // other characters could have a special meaning in the pattern
  if (!/^[\w.:-]{1,48}$/.test(prefix)) throw invalidUrl('has a parameter "prefix" that is not 1 to 48 letters, digits, _ - . and :');
  for (let cursor = "0"; ; ) {
    const [next, keys] = (await command(["SCAN", cursor, "MATCH", `{${prefix}}:*`, "COUNT", "500"])) as [string | number, string[]];
    if (keys.length > 0) await command(["DEL", ...keys]);
    cursor = String(next);
    if (cursor === "0") return;
  }
}
