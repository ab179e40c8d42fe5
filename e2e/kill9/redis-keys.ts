import type { Redis } from "ioredis";

/** Returns the keys of a Redis that match a pattern, each once. */
export async function keysOf(redis: Redis, pattern: string): Promise<string[]> {
  const found = new Set<string>();
  for (let cursor = "0"; ; ) {
    const [next, some] = await redis.scan(cursor, "MATCH", pattern, "COUNT", 1_000);
    for (const one of some) found.add(one);
    cursor = next;
    if (cursor === "0") return [...found];
  }
}

export async function deleteKeys(redis: Redis, pattern: string): Promise<void> {
  for (const one of await keysOf(redis, pattern)) await redis.del(one);
}
