import { Redis } from "@upstash/redis";
import { afterAll } from "vitest";
import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import { upstashServer } from "../../../../../scripts/servers/upstash-server.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { upstashStore } from "../../../src/stores/databases/upstash/index.ts";
import type { StoreBench } from "../../../src/testing/index.ts";
import { contractOf, wait } from "../../testing/store-contract.fixture.ts";
import { type CuttingProxy, cuttingProxy } from "../redis/cutting-proxy.fixture.ts";
import { ownPrefixes } from "../redis/own-prefix.fixture.ts";

const url = await serviceUrl("redis");
const own = url === null ? null : ownPrefixes(url);
const server = url === null ? null : await upstashServer({ redisUrl: url, token: "token" });
const proxies: CuttingProxy[] = [];

afterAll(async () => {
  for (const proxy of proxies) await proxy.close();
  await server?.close();
  await own?.close();
});

async function bench(automaticDeserialization: boolean): Promise<StoreBench> {
  const proxy = await cuttingProxy(new URL(server!.url));
  proxies.push(proxy);
  const redis = new Redis({ url: `http://127.0.0.1:${proxy.port}`, token: "token", automaticDeserialization });
  const prefix = own!.next();
  const open = (): SnapshotStore => upstashStore(redis, { prefix, idempotencyRetentionMs: 3_000, maxValueBytes: 2_000_000 });
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

contractOf("upstash", { over: "a stand-in over Redis", url, atOnce: 8, bench: () => bench(true) });
contractOf("upstash", { over: "a stand-in over Redis, values as they come", isOtherForm: true, url, atOnce: 8, bench: () => bench(false) });
