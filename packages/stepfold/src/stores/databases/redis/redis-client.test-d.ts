import type { Cluster, Redis } from "ioredis";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { expectTypeOf } from "vitest";
import type { RedisClient } from "./index.ts";

const nodes = { rootNodes: [{ url: "redis://127.0.0.1:7101" }] };
const sentinels = { name: "primary", sentinelRootNodes: [{ host: "127.0.0.1", port: 26_379 }] };

expectTypeOf<Redis>().toExtend<RedisClient>();
expectTypeOf<Cluster>().toExtend<RedisClient>();
expectTypeOf(createClient()).toExtend<RedisClient>();
expectTypeOf(createClient({ RESP: 3 })).toExtend<RedisClient>();
expectTypeOf(createClientPool()).toExtend<RedisClient>();
expectTypeOf(createCluster(nodes)).toExtend<RedisClient>();
expectTypeOf(createSentinel(sentinels)).toExtend<RedisClient>();
