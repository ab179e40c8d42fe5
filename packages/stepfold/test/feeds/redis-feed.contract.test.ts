import { Redis } from "ioredis";
import { createClient } from "redis";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import { type RedisFeedClient, redisFeed } from "../../src/feeds/redis/index.ts";
import { feedContractOf } from "./feed-contract.fixture.ts";

const url = await serviceUrl("redis");
const ioredis = url === null ? null : new Redis(url);
const nodeRedis = url === null ? null : await createClient({ url }).connect();

const benchOf = (client: RedisFeedClient | null, library: string) => async (index: number) => {
  const channel = `feed-${library}-${process.pid}-${index}`;
  const feedOn = (name: string) => redisFeed(client!, { channel: name });
  return {
    feed: feedOn(channel),
    open: async () => feedOn(channel),
    openElsewhere: async () => feedOn(`${channel}-other`),
    inject: async (text: string) => void (await client!.publish(channel, text)),
    patienceMs: 5_000,
  };
};

feedContractOf("redis, over ioredis", { url, bench: benchOf(ioredis, "ioredis"), close: async () => ioredis?.quit() });
feedContractOf("redis, over node-redis", { url, bench: benchOf(nodeRedis, "node-redis"), close: async () => nodeRedis?.close() });
