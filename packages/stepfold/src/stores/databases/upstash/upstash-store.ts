import { aCount, aFlag, aText, aTime, checkOptions, requireMethods } from "../../../core/values/check-arguments.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { RetentionOptions } from "../../kit/store-over.ts";
import type { SendScript } from "../redis/redis-client.ts";
import { storeOnServer } from "../redis/redis-table.ts";

/** The part of an `@upstash/redis` client that the store uses. The automatic serialization of the client may be on or off. */
export interface UpstashClient {
  evalsha(sha1: string, keys: string[], args: string[]): Promise<unknown>;
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
}

/** How an Upstash store behaves. */
export interface UpstashStoreOptions extends RetentionOptions {
  /** The text in braces with which all keys begin: `{stepfold}:`. At most 48 letters, digits, `_`, `-`, `.`, `:`. Default `stepfold`. */
  readonly prefix?: string | undefined;
  /** The value of `features.durable`: whether acknowledged commits survive a crash. Default true, because Upstash always writes to disk. */
  readonly durable?: boolean | undefined;
  /**
   * Largest commit, in bytes of the request that carries it, and largest head, event or child. Default 9,000,000: Upstash accepts 10 MB
   * unless your plan allows more.
   */
  readonly maxValueBytes?: number | undefined;
}

/**
 * A store on Upstash Redis, over HTTP: for serverless and edge platforms, where connections cannot be kept. You provide the
 * client of `@upstash/redis`.
 *
 * A Lua script makes each write completely or not at all, in one request. The server's clock decides about leases.
 * Commits of different executions that are issued together share a request. Eviction must be off, as it is by default.
 *
 * ```ts
 * import { Redis } from "@upstash/redis";
 * import { upstashStore } from "stepfold/stores/upstash";
 *
 * const store = upstashStore(Redis.fromEnv());
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * ```
 *
 * Methods reject with `STORE_UNAVAILABLE` if the server does not answer or a quota of requests is used up, with `LIMIT_EXCEEDED` for a
 * commit that is too large, and with `STORE_REJECTED` for anything else that Upstash refuses.
 *
 * @throws StepfoldError `OPTION_INVALID` for a prefix or retention that is not allowed
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function upstashStore(redis: UpstashClient, options: UpstashStoreOptions = {}): SnapshotStore {
  requireMethods("redis", redis, "a Redis of @upstash/redis", ["eval", "evalsha"]);
  checkOptions("upstashStore", options, { prefix: aText, durable: aFlag, maxValueBytes: aCount, idempotencyRetentionMs: aTime });
  const { durable = true, maxValueBytes = 9_000_000 } = options;
  const send: SendScript = (command, script, keys, args) => redis[command](script, keys, args);
  return storeOnServer({ ...options, name: "upstash", send, durable, maxValueBytes, maxRequestBytes: maxValueBytes });
}
