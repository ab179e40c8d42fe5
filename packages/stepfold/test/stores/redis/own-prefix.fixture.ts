import { Redis } from "ioredis";

/** Prefixes of tests on a server that others use too. */
export interface OwnPrefixes {
  /** One that nobody else has. */
  next(): string;
  /** A client to look behind the store's back. */
  readonly redis: Redis;
  /** Removes what lies below them, and nothing else. */
  close(): Promise<void>;
}

/** Prefixes on a server. */
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
