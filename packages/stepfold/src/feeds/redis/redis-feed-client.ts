/** The methods that are used of an ioredis client: `new Redis()` or `new Cluster()` of ioredis 5 or 6. */
export interface IoredisFeedClient {
  publish(channel: string, text: string): Promise<unknown>;
  duplicate(): IoredisSubscriber;
}

/** A connection of ioredis that listens. */
export interface IoredisSubscriber {
  subscribe(channel: string): Promise<unknown>;
  on(event: "message", listener: (channel: string, text: string) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  disconnect(): void;
}

/** The methods that are used of a node-redis client: `createClient()`, `createCluster()`. */
export interface NodeRedisFeedClient {
  publish(channel: string, text: string): Promise<unknown>;
  sPublish(channel: string, text: string): Promise<unknown>;
  duplicate(): NodeRedisSubscriber;
}

/** A connection of node-redis that listens. */
export interface NodeRedisSubscriber {
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (text: string) => void): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  destroy(): void;
}

/** A client of one of the two libraries. One of node-redis must be connected. */
export type RedisFeedClient = IoredisFeedClient | NodeRedisFeedClient;
