import { Redis } from "ioredis";
import { createClient, RESP_TYPES } from "redis";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { type IoredisClient, redisStore } from "../../../src/stores/databases/redis/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
afterAll(() => own?.close());

const lease = { owner: "worker", leaseMs: 60_000 };

function opened() {
  const prefix = own!.next();
  const { redis } = own!;
  return { redis, prefix, store: redisStore(redis, { prefix }), key: (name: string) => `{${prefix}}:${name}` };
}

describe.skipIf(url === null)("what a Redis store keeps where", () => {
  it("all keys of a prefix lie in one slot, and deleting leaves only the tombstone and the counter", async () => {
    const { redis, prefix, store, key } = opened();
    const first = startCommit("a", { children: [{ key: "x", head: { ...childHead } }] });
    await store.create(first);
    await store.commit(stepCommit(first, { status: "completed" }));
    const keys = await redis.keys(`{${prefix}}*`);
    expect(keys.sort()).toEqual(["c:a", "created", "e:a", "ended", "h:a", "layout"].map(key));
    // a cluster computes the slot of a key from the part in braces
    expect(new Set(keys.map((one) => /\{(.+?)\}/.exec(one)?.[1]))).toEqual(new Set([prefix]));
    await store.delete("a");
    expect((await redis.keys(`{${prefix}}*`)).sort()).toEqual([key("e:a"), key("layout")]);
    expect(Object.keys(await redis.hgetall(key("e:a"))).sort()).toEqual([
      "created",
      "deleted",
      "fence",
      "incarnation",
      "seq",
      "status",
      "version",
    ]);
    expect(await redis.pttl(key("e:a"))).toBeGreaterThan(29 * 24 * 60 * 60 * 1000);
  });

  it("a client's own key prefix comes before all keys, and everything works", async () => {
    const prefix = own!.next();
    // the prefix of the test is at the front, so that the keys are removed with the others
    const redis = new Redis(url!, { keyPrefix: `{${prefix}}:` });
    const store = redisStore(redis, { prefix: "orders" });
    const first = startCommit("a", { metadata: { n: 1 } });
    await store.create(first);
    expect((await claimAndLoad(store, { ...lease, limit: 10 })).map(({ snapshot }) => snapshot)).toEqual([snapshotAfter(first)]);
    expect((await store.list({ metadata: { n: 1 } })).items).toHaveLength(1);
    expect(await own!.redis.exists(`{${prefix}}:{orders}:e:a`)).toBe(1);
    await redis.quit();
  });

  it("clients that answer with bytes, or pipeline by themselves, work the same", async () => {
    const nodeRedis = await createClient({ url: url! }).connect();
    const pipelining = new Redis(url!, { enableAutoPipelining: true });
    for (const client of [nodeRedis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }), pipelining]) {
      const store = redisStore(client, { prefix: own!.next() });
      const made = ["a", "ä", "123"].map((id) => startCommit(id, { metadata: { name: "Zoë" }, children: [{ key: "x", head: childHead }] }));
      await Promise.all(made.map((first) => store.create(first)));
      expect((await claimAndLoad(store, { ...lease, limit: 5 })).map(({ snapshot }) => snapshot)).toEqual(
        [...made].sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1)).map((first) => snapshotAfter(first)),
      );
      expect((await store.list({ metadata: { name: "Zoë" } })).items).toHaveLength(3);
    }
    await nodeRedis.close();
    await pipelining.quit();
  });

  it("a commit sends as much at version 2,000 as at version 2", async () => {
    const prefix = own!.next();
    const sent: number[] = [];
    const watched: IoredisClient = {
      evalsha(sha1, numkeys, rest) {
        sent.push(rest.join("").length);
        return own!.redis.evalsha(sha1, numkeys, rest);
      },
      eval: (script, numkeys, rest) => own!.redis.eval(script, numkeys, rest),
    };
    const store = redisStore(watched, { prefix });
    const first = startCommit("a");
    let last = stepCommit(first, { outputs: Array.from({ length: 1998 }, () => "x".repeat(100)) });
    await store.create(first);
    await store.commit(stepCommit(first, { commitId: "early" }));
    const early = sent.at(-1)!;
    await store.create({ ...startCommit("b"), incarnation: "b" });
    await store.commit({ ...last, workflowId: "b", incarnation: "b" });
    last = stepCommit({ ...last, workflowId: "b", incarnation: "b" }, { commitId: "later" });
    await store.commit({ ...last, workflowId: "b", incarnation: "b" });
    expect(Math.abs(sent.at(-1)! - early)).toBeLessThan(40);
    expect((await store.load("b"))?.version).toBe(1999);
  });

  it("large commits that are issued together go in calls of their own", async () => {
    const sent: number[] = [];
    const watched: IoredisClient = {
      evalsha(sha1, numkeys, rest) {
        sent.push(rest.join("").length);
        return own!.redis.evalsha(sha1, numkeys, rest);
      },
      eval: (script, numkeys, rest) => own!.redis.eval(script, numkeys, rest),
    };
    const store = redisStore(watched, { prefix: own!.next() });
    const made = Array.from({ length: 10 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(made.map((first) => store.create(first)));
    expect(sent).toHaveLength(1);
    await Promise.all(made.map((first) => store.commit(stepCommit(first, { output: "x".repeat(400_000) }))));
    expect(sent).toHaveLength(1 + 5);
    expect(Math.max(...sent)).toBeLessThan(1_000_000);
  });

  it("a history of many megabytes comes in several answers, as one", async () => {
    const { store } = opened();
    const first = startCommit("a");
    const second = stepCommit(first, { outputs: Array.from({ length: 40 }, (_, index) => `${index}${"x".repeat(200_000)}`) });
    await store.create(first);
    await store.commit(second);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect((await claimAndLoad(store, { ...lease, limit: 1 }))[0]?.snapshot).toEqual(snapshotAfter(first, second));
    expect(await store.events("a", 3, 30)).toHaveLength(30);
  });

  it("prefixes and retentions that are not allowed are refused", () => {
    for (const prefix of ["", "a b", "{a}", "a*", "x".repeat(49)]) {
      expect(() => redisStore(own!.redis, { prefix })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    }
    expect(() => redisStore(own!.redis, { idempotencyRetentionMs: -1 })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(redisStore(own!.redis).features).toMatchObject({ durable: false, clock: "store", multiProcess: true });
  });
});

const childHead = { workflow: "w", status: "active", currentNodeId: null, activePaths: [], version: 0 } as const;

describe.skipIf(url === null)("numbers and names at the edges", () => {
  it("fences, leases and times up to 2^53 are exact", async () => {
    const { redis, store, key } = opened();
    const latest = 2 ** 53 - 1;
    const first = startCommit("a", { status: "paused", wakeAt: latest });
    await store.create(first);
    expect((await store.list()).items[0]?.wakeAt).toBe(latest);
    const second = stepCommit(first, { wakeAt: 0 });
    await store.commit(second);
    await redis.hset(key("e:a"), "fence", String(latest - 2 ** 24));
    const [claimed] = await store.claim({ owner: "worker", leaseMs: 2 ** 52, limit: 1 });
    expect(claimed?.fence).toBeGreaterThan(latest - 2 ** 24);
    expect(await redis.hget(key("e:a"), "fence")).toBe(String(claimed?.fence));
    await redis.hset(key("e:a"), "fence", String(latest));
    const claim = { ...claimed!, fence: latest };
    await store.renew(claim);
    await expect(store.renew({ ...claim, fence: latest - 1 })).rejects.toMatchObject({ code: "FENCE_LOST" });
    await store.commit(stepCommit(second, { fence: latest, release: true, status: "paused", wakeAt: latest - 1 }));
    const [member = ""] = await redis.zrange(key("due"), "0", "0");
    expect(await redis.zscore(key("due"), member)).toBe(`${latest - 1}`);
    expect(await redis.hget(key("e:a"), "wake")).toBe(String(latest - 1));
  });

  it("sequence numbers keep their order into the millions of millions", async () => {
    const { redis, store, key } = opened();
    await redis.hset(key("layout"), { version: "3", seq: String(2 ** 53 - 3) });
    for (const id of ["b", "a"]) await store.create(startCommit(id));
    const { items, nextCursor } = await store.list({ limit: 1 });
    expect(items.map(({ workflowId }) => workflowId)).toEqual(["a"]);
    expect((await store.list({ limit: 1, cursor: nextCursor! })).items.map(({ workflowId }) => workflowId)).toEqual(["b"]);
    expect((await store.claim({ ...lease, limit: 5 })).map(({ workflowId }) => workflowId)).toEqual(["b", "a"]);
  });

  it("ids are only names: braces, patterns, numbers, 255 wide characters", async () => {
    const { store } = opened();
    const ids = ["}{", "{a}", "*", "123", "1e3", "true", "null", '{"a":1}', "[]", "\ufeffx", "x:h:y", "=", "😀".repeat(255), "a\r\nb"];
    for (const id of ids) await store.create(startCommit(id, { metadata: { [id]: id } }));
    const claimed = await claimAndLoad(store, { ...lease, limit: 100 });
    expect(claimed.map(({ claim }) => claim.workflowId)).toEqual(ids);
    for (const { claim, snapshot } of claimed) {
      await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
      expect((await store.list({ metadata: { [claim.workflowId]: claim.workflowId } })).items.map(({ workflowId }) => workflowId)).toEqual([
        claim.workflowId,
      ]);
    }
    expect(await store.prune({ before: Number.MAX_SAFE_INTEGER })).toMatchObject({ executions: ids.length, events: 2 * ids.length });
  });

  it("a filter that few of thousands pass finds them all, in order", async () => {
    const { store } = opened();
    const made = Array.from({ length: 2500 }, (_, index) => startCommit(`id-${index}`, { metadata: { rare: index % 600 === 0 } }));
    await Promise.all(made.map((commit) => store.create(commit)));
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await store.list({ limit: 2, metadata: { rare: true }, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.items.map(({ workflowId }) => workflowId));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(["id-2400", "id-1800", "id-1200", "id-600", "id-0"]);
  });
});
