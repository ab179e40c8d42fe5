import { Redis } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
afterAll(() => own?.close());

type Break = (redis: Redis, key: (name: string) => string) => Promise<unknown>;

/** Damages of an execution `b`, by people or by a server that drops keys, after which nobody can claim it. */
const unclaimable: Readonly<Record<string, Break>> = {
  "the head is of another type": async (redis, key) => {
    await redis.del(key("e:b"));
    await redis.set(key("e:b"), "x");
  },
  "the head has lost its fields": async (redis, key) => {
    await redis.hdel(key("e:b"), "seq", "incarnation");
  },
  "the fence is no number": (redis, key) => redis.hset(key("e:b"), "fence", "x"),
};

/** All damages. Those that are only in this list are noticed only when the execution is loaded. */
const breaks: Readonly<Record<string, Break>> = {
  ...unclaimable,
  "the head is no JSON": (redis, key) => redis.hset(key("e:b"), "head", "{"),
  "the history was dropped": (redis, key) => redis.del(key("h:b")),
  "the history is of another type": async (redis, key) => {
    await redis.del(key("h:b"));
    await redis.set(key("h:b"), "x");
  },
  "an event is no JSON": (redis, key) => redis.lset(key("h:b"), 0, "x"),
  "the children are of another type": (redis, key) => redis.set(key("c:b"), "x"),
};

describe.skipIf(url === null).each(Object.entries(breaks))("an execution of which %s", (name, damage) => {
  it("is refused and left as it is, and in nobody's way", async () => {
    const { store, made } = await damagedStore(damage);
    await expect(store.load("b")).rejects.toMatchObject({ code: "STORE_REJECTED" });
    const claimed = name in unclaimable ? ["a", "c"] : ["a", "b", "c"];
    expect(idsOf(await store.claim({ owner: "worker", leaseMs: 60_000, limit: 10 }))).toEqual(claimed);
    expect(await store.claim({ owner: "worker", leaseMs: 60_000, limit: 10 })).toEqual([]);
    await expect(store.load("b")).rejects.toMatchObject({ code: "STORE_REJECTED" });
    expect(idsOf((await store.list()).items).filter((id) => id !== "b")).toEqual(["c", "a"]);
    expect(await store.load("c")).toEqual(snapshotAfter(made[2]!));
    await store.commit(stepCommit(made[0]!, { status: "completed" }));
    expect(await store.prune({ before: Number.MAX_SAFE_INTEGER })).toMatchObject({ executions: 1, events: 2 });
  });

  it("does not keep commits of others that share its round trip", async () => {
    const { store, made } = await damagedStore(damage);
    const settled = await Promise.allSettled(made.map((first) => store.commit(stepCommit(first))));
    expect([settled[0]!.status, settled[2]!.status]).toEqual(["fulfilled", "fulfilled"]);
    for (const one of settled) if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "STORE_REJECTED" });
  });
});

describe.skipIf(url === null)("a Redis that is not as it was", () => {
  it("dropped a head: the rest of it is in nobody's way, and the id can be used again", async () => {
    const { store } = await damagedStore((redis, key) => redis.del(key("e:b")));
    expect(await store.load("b")).toBeNull();
    expect(await store.events("b", -1, 10)).toEqual([]);
    expect(idsOf(await store.claim({ owner: "worker", leaseMs: 60_000, limit: 10 }))).toEqual(["a", "c"]);
    const again = startCommit("b", { input: "again" });
    await store.create(again);
    expect(await store.load("b")).toEqual(snapshotAfter(again));
    expect(idsOf((await store.list()).items)).toEqual(["b", "c", "a"]);
  });

  it("forgot all scripts: every operation goes on", async () => {
    const { store, redis, made } = await damagedStore(async () => undefined);
    let last = made[0]!;
    for (let round = 0; round < 10; round++) {
      await redis.script("FLUSH");
      last = stepCommit(last, { output: round });
      await store.commit(last);
      await redis.script("FLUSH");
      expect((await store.load("a"))?.version).toBe(round + 1);
    }
    await redis.script("FLUSH");
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.create(startCommit(`more-${index}`))));
    expect((await store.list()).items).toHaveLength(23);
  });

  it("uses the prefix for something else: that is said, and nothing is written", async () => {
    const { store, redis, key, made } = await damagedStore(async () => undefined);
    await redis.del(key("due"));
    await redis.set(key("due"), "x");
    await expect(store.create(startCommit("d"))).rejects.toMatchObject({
      code: "STORE_REJECTED",
      message: expect.stringContaining("prefix"),
    });
    await expect(store.commit(stepCommit(made[0]!, { wakeAt: null, status: "paused" }))).rejects.toMatchObject({ code: "STORE_REJECTED" });
    expect(await store.load("a")).toEqual(snapshotAfter(made[0]!));
    expect(await store.load("d")).toBeNull();
  });

  it("is not there: that may pass", async () => {
    const redis = new Redis({ host: "127.0.0.1", port: 1, maxRetriesPerRequest: 0 });
    redis.on("error", () => undefined);
    const store = redisStore(redis);
    await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(store.create(startCommit("a"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.close();
    redis.disconnect();
  });
});

/** A store with the executions a, b and c, of which b is damaged. */
async function damagedStore(damage: Break) {
  const prefix = own!.next();
  const { redis } = own!;
  const key = (name: string): string => `{${prefix}}:${name}`;
  const store: SnapshotStore = redisStore(redis, { prefix });
  const made = ["a", "b", "c"].map((id) => startCommit(id));
  for (const first of made) await store.create(first);
  await damage(redis, key);
  return { store, made, redis, key };
}

function idsOf(items: readonly { readonly workflowId: string }[]): string[] {
  return items.map(({ workflowId }) => workflowId);
}
