export { type PostgresFeedOptions, postgresFeed } from "./postgres-feed.ts";
export type { PostgresFeedClient, PostgresListenClient } from "./postgres-feed-client.ts";
