import type { FailoverOptions } from "./failover.ts";
import { startProxy } from "./proxy.ts";
import { redisPair } from "./redis-pair.ts";
import { redisTarget } from "./redis-target.ts";

/** The servers and the store of a run with failovers. */
export interface FailoverBench extends Pick<FailoverOptions, "pair" | "proxy" | "target"> {
  close(): Promise<void>;
}

/**
 * Starts a Redis with a replica behind a proxy. Returns null if Redis is not installed.
 * @param folder the folder for the data of the servers
 */
export async function failoverBench(folder: string): Promise<FailoverBench | null> {
  const pair = await redisPair(folder);
  if (!pair) return null;
  const proxy = await startProxy(pair.url);
  const target = await redisTarget(proxy.url);
  return {
    pair,
    proxy,
    target,
    async close() {
      await target.drop();
      await proxy.close();
      await pair.close();
    },
  };
}
