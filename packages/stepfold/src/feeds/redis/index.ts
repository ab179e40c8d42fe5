export { type RedisFeedOptions, redisFeed } from "./redis-feed.ts";
export type {
  IoredisFeedClient,
  IoredisSubscriber,
  NodeRedisFeedClient,
  NodeRedisSubscriber,
  RedisFeedClient,
} from "./redis-feed-client.ts";
