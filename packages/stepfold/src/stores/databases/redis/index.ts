export type { IoredisClient, NodeRedisClient, RedisClient } from "./redis-client.ts";
export { type RedisStoreOptions, redisStore } from "./redis-store.ts";
