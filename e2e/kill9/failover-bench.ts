import type { FailoverOptions } from "./failover.ts";
import { startProxy } from "./proxy.ts";
import { redisPair } from "./redis-pair.ts";
import { redisTarget } from "./redis-target.ts";

/** What a run with failovers is made on. */
export interface FailoverBench extends Pick<FailoverOptions, "pair" | "proxy" | "target"> {
  close(): Promise<void>;
}

/** A Redis with a replica behind a proxy; null where there is no program for it. @param folder for what the servers write */
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
