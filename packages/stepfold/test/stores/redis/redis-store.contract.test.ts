import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll } from "vitest";
import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import type { RedisClient } from "../../../src/stores/databases/redis/redis-client.ts";
import { type StoreBench, snapshotStoreContract } from "../../../src/testing/index.ts";
import { contractOf, wait } from "../../testing/store-contract.fixture.ts";
import { type CuttingProxy, cuttingProxy } from "./cutting-proxy.fixture.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

interface Connected {
  readonly client: RedisClient;
  readonly proxy: CuttingProxy;
  close(): Promise<unknown>;
}

const url = await serviceUrl("redis");
const own = url === null ? null : ownPrefixes(url);
const opened: Connected[] = [];

afterAll(async () => {
  for (const { close, proxy } of opened) {
    await close();
    await proxy.close();
  }
  await own?.close();
});

type Connect = (port: number) => Promise<Pick<Connected, "client" | "close">>;

/** Returns the client of a case: cases that cut the connection have their own client, all other cases share one. */
function clients(connect: Connect): (index: number) => Promise<Connected> {
  const connected = async (): Promise<Connected> => {
    const proxy = await cuttingProxy(new URL(url!));
    const made = { ...(await connect(proxy.port)), proxy };
    opened.push(made);
    return made;
  };
  let shared: Promise<Connected> | undefined;
  return (index) => {
    if (snapshotStoreContract[index]!.needs === "cut") return connected();
    shared ??= connected();
    return shared;
  };
}

async function throughIoredis(port: number): Promise<Pick<Connected, "client" | "close">> {
  const redis = new Redis({ host: "127.0.0.1", port, lazyConnect: true });
  redis.on("error", () => undefined);
  await redis.connect();
  return { client: redis, close: async () => redis.disconnect() };
}

async function throughNodeRedis(port: number): Promise<Pick<Connected, "client" | "close">> {
  const redis = createClient({ url: `redis://127.0.0.1:${port}` });
  redis.on("error", () => undefined);
  await redis.connect();
  return { client: redis, close: async () => redis.destroy() };
}

async function bench({ client, proxy }: Connected): Promise<StoreBench> {
  const prefix = own!.next();
  // the cases need `durable` only to close and open a store again, which works with every server
  const options = { prefix, idempotencyRetentionMs: 3_000, durable: true, maxValueBytes: 1_000_000 };
  const open = (): SnapshotStore => redisStore(client, options);
  return {
    store: open(),
    retentionMs: 3_000,
    open: async () => open(),
    advance: wait,
    damage: async (workflowId) => {
      await own!.redis.hset(`{${prefix}}:e:${workflowId}`, "head", "{");
    },
    cut: async () => proxy.cut(),
  };
}

const over = `Redis ${url === null ? "" : /redis_version:(\S+)/.exec(await own!.redis.info("server"))?.[1]}`;
const ioredis = clients(throughIoredis);
const nodeRedis = clients(throughNodeRedis);
contractOf("redis", { over: `${over} through ioredis`, url, atOnce: 8, bench: async (index) => bench(await ioredis(index)) });
contractOf("redis", {
  over: `${over} through node-redis`,
  isOtherForm: true,
  url,
  atOnce: 8,
  bench: async (index) => bench(await nodeRedis(index)),
});
