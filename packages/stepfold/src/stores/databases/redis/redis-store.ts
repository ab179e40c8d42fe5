import { aCount, aFlag, aText, aTime, checkOptions } from "../../../core/values/check-arguments.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { RetentionOptions } from "../../kit/store-over.ts";
import { type RedisClient, scriptSender } from "./redis-client.ts";
import { storeOnServer } from "./redis-table.ts";

/** How a Redis store behaves. */
export interface RedisStoreOptions extends RetentionOptions {
  /** The text in braces with which all keys begin: `{stepfold}:`. At most 48 letters, digits, `_`, `-`, `.`, `:`. Default `stepfold`. */
  readonly prefix?: string | undefined;
  /**
   * Set this to true if your server keeps what it has acknowledged: with `appendonly yes`, and with `appendfsync always` if a power
   * loss must not lose the last second either. Redis does not do so by default, and a client may not be allowed to ask the server.
   * Default false.
   */
  readonly durable?: boolean | undefined;
  /** Largest head, event or child of an execution, in bytes. Default 64 MiB; Redis accepts at most 512 MiB. */
  readonly maxValueBytes?: number | undefined;
}

/**
 * A store on a Redis server or cluster, version 5 or later, for any number of processes. You provide a connected client of
 * ioredis or node-redis (also a client for a cluster or for sentinels), and close it yourself.
 *
 * A Lua script makes each write completely or not at all. The server's clock decides about leases. Commits of
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
 * Methods reject with `STORE_UNAVAILABLE` when the server cannot be reached or cannot work at the moment, for example because it is
 * loading, read-only or out of memory; with `LIMIT_EXCEEDED` for a value above `maxValueBytes`; and with `STORE_REJECTED` for anything
 * else that the server refuses.
 *
 * @throws StepfoldError `OPTION_INVALID` for a prefix or retention that is not allowed
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): SnapshotStore {
  checkOptions("redisStore", options, { prefix: aText, durable: aFlag, maxValueBytes: aCount, idempotencyRetentionMs: aTime });
  const { durable = false, maxValueBytes = 64 * 2 ** 20 } = options;
  return storeOnServer({ ...options, name: "redis", send: scriptSender(client), durable, maxValueBytes });
}
