import { Redis } from "ioredis";

/** Makes key prefixes for tests on a server that others use too. */
export interface OwnPrefixes {
  /** Returns a prefix that no other test uses. */
  next(): string;
  /** A client that reads and changes keys without a store. */
  readonly redis: Redis;
  /** Removes all keys with these prefixes, and nothing else. */
  close(): Promise<void>;
}

/** Makes prefixes on the server of a URL. */
export function ownPrefixes(url: string): OwnPrefixes {
  const redis = new Redis(url, { maxRetriesPerRequest: 2 });
  const run = `test-${crypto.randomUUID()}`;
  let count = 0;
  return {
    redis,
    next: () => `${run}-${++count}`,
    async close() {
      for await (const keys of redis.scanStream({ match: `{${run}-*`, count: 1000 })) {
        if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
      }
      await redis.quit();
    },
  };
}
