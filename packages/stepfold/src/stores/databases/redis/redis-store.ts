import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { RetentionOptions } from "../../kit/store-over.ts";
import { type RedisClient, scriptSender } from "./redis-client.ts";
import { storeOnServer } from "./redis-table.ts";

/** How a Redis store behaves. */
export interface RedisStoreOptions extends RetentionOptions {
  /** What all keys begin with, in braces: `{stepfold}:`. Letters, digits, `_`, `-`, `.`, `:`; at most 48. Default `stepfold`. */
  readonly prefix?: string;
  /**
   * Say so if your server keeps what it acknowledged: with `appendonly yes`, and `appendfsync always` where a power loss must
   * not cost the last second either. Redis does not by default, and a client may not be allowed to ask. Default false.
   */
  readonly durable?: boolean;
  /** Largest head, event or child of an execution, in bytes. Default 64 MiB; Redis takes no more than 512. */
  readonly maxValueBytes?: number;
}

/**
 * A store on a Redis server or cluster, version 5 or later, for any number of processes. You hand in a connected client of
 * ioredis or node-redis (also one for a cluster or for sentinels), and close it yourself.
 *
 * Every write is one Lua script: all of it happens, or nothing, and leases are judged by the server's clock. Commits of
 * different executions that are issued together share a round trip. All keys lie in one slot of a cluster.
 *
 * Redis is as durable as you set it up: see `durable`. A failover may lose commits that were acknowledged, because replicas
 * follow later. The server's eviction policy must be `noeviction`.
 *
 * ```ts
 * import { Redis } from "ioredis";
 * import { redisStore } from "stepfold/stores/redis";
 *
 * const redis = new Redis("redis://127.0.0.1:6379");
 * const store = redisStore(redis);
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * await redis.quit();
 * ```
 *
 * Methods reject with `STORE_UNAVAILABLE` when the server cannot be reached, is loading, read-only or out of memory, and
 * with `STORE_REJECTED` for anything else that it refuses.
 *
 * @throws StepfoldError `OPTION_INVALID` for a prefix or retention that is not allowed
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): SnapshotStore {
  const { durable = false, maxValueBytes = 64 * 2 ** 20 } = options;
  return storeOnServer({ ...options, name: "redis", send: scriptSender(client), durable, maxValueBytes });
}
