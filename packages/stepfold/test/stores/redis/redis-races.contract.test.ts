import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import type { RedisClient } from "../../../src/stores/databases/redis/redis-client.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { oneOfEightWins } from "../rival-commits.fixture.ts";
import { cuttingProxy } from "./cutting-proxy.fixture.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
afterAll(() => own?.close());

/** Opens a store through a client that does not repeat calls, with the proxy between the client and the server. */
async function fragile(kind: "ioredis" | "node-redis", prefix: string) {
  const proxy = await cuttingProxy(new URL(url!));
  let client: RedisClient;
  let close: () => void;
  if (kind === "ioredis") {
    const redis = new Redis({ host: "127.0.0.1", port: proxy.port, maxRetriesPerRequest: 0 });
    redis.on("error", () => undefined);
    [client, close] = [redis, () => redis.disconnect()];
  } else {
    const redis = createClient({ url: `redis://127.0.0.1:${proxy.port}` });
    redis.on("error", () => undefined);
    await redis.connect();
    [client, close] = [redis, () => redis.destroy()];
  }
  const end = async (): Promise<void> => {
    close();
    await proxy.close();
  };
  return { store: redisStore(client, { prefix }), proxy, end };
}

/** Opens two stores on the same data, through different clients. */
async function rivals(): Promise<{ stores: readonly [SnapshotStore, SnapshotStore]; end(): Promise<void> }> {
  const prefix = own!.next();
  const ioredis = new Redis(url!);
  const nodeRedis = await createClient({ url: url! }).connect();
  const end = async (): Promise<void> => {
    await ioredis.quit();
    await nodeRedis.close();
  };
  return { stores: [redisStore(ioredis, { prefix }), redisStore(nodeRedis, { prefix })], end };
}

describe.skipIf(url === null)("several writers of one Redis", () => {
  it("through ioredis and node-redis: of 8 commits on one version exactly one wins, 200 times", async () => {
    const { stores, end } = await rivals();
    await oneOfEightWins(stores);
    await end();
  });

  it("get a verdict each, also where groups of two handles cross", async () => {
    const { stores, end } = await rivals();
    const firsts = Array.from({ length: 60 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(firsts.map((first, index) => stores[index % 2]!.create(first)));
    const attempts = firsts.flatMap((first) => stores.map((store, index) => store.commit(stepCommit(first, { output: index }))));
    const settled = await Promise.allSettled(attempts);
    for (let index = 0; index < settled.length; index += 2) {
      const pair = settled.slice(index, index + 2);
      expect(pair.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(pair.find(({ status }) => status === "rejected")).toMatchObject({
        reason: { code: "VERSION_CONFLICT", details: { actual: 1 } },
      });
    }
    await end();
  });

  it("make 1,000 commits of different executions at once, with each its verdict", async () => {
    const { stores, end } = await rivals();
    const firsts = Array.from({ length: 1000 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(firsts.map((first) => stores[0].create(first)));
    const commits = firsts.map((first, index): Commit => {
      const next = stepCommit(first, { output: index });
      return index % 100 === 0 ? { ...next, incarnation: "another" } : next;
    });
    const settled = await Promise.allSettled(commits.map((commit) => stores[0].commit(commit)));
    expect(settled.map(({ status }) => status === "rejected")).toEqual(commits.map((_, index) => index % 100 === 0));
    for (const index of [0, 1, 567, 999]) {
      const expected = index === 0 ? snapshotAfter(firsts[0]!) : snapshotAfter(firsts[index]!, commits[index]!);
      expect(await stores[1].load(`id-${index}`)).toEqual(expected);
    }
    await end();
  });
});

describe.skipIf(url === null).each(["ioredis", "node-redis"] as const)("a connection that ends, through %s", (kind) => {
  it("before the acknowledgement: the commit is unavailable, and repeated it is acknowledged and not doubled", async () => {
    const { store, proxy, end } = await fragile(kind, own!.next());
    const first = startCommit("a");
    const second = stepCommit(first, { output: 1 });
    await store.create(first);
    proxy.cutAnswers(1);
    await expect(store.commit(second)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await repeat(() => store.commit(second));
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect(await store.events("a", -1, 10)).toHaveLength(2);
    await end();
  });

  it("before a creation is acknowledged: repeated it gives the same claim", async () => {
    const { store, proxy, end } = await fragile(kind, own!.next());
    await store.create(startCommit("warm"));
    const first = startCommit("a");
    const claim = { owner: "worker", leaseMs: 60_000 };
    proxy.cutAnswers(1);
    await expect(store.create(first, { claim })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    let made: Awaited<ReturnType<SnapshotStore["create"]>> = null;
    await repeat(async () => {
      made = await store.create(first, { claim });
    });
    expect(made).toMatchObject({ workflowId: "a", owner: "worker", fence: 1 });
    expect(await store.events("a", -1, 10)).toHaveLength(1);
    await end();
  });
});

/** Repeats the work until the client is connected again. */
async function repeat(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 50 || (error as { code?: string }).code !== "STORE_UNAVAILABLE") throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
