import { Redis } from "@upstash/redis";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { upstashServer } from "../../../../../scripts/servers/upstash-server.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import { type UpstashStoreOptions, upstashStore } from "../../../src/stores/databases/upstash/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { cuttingProxy } from "../redis/cutting-proxy.fixture.ts";
import { ownPrefixes } from "../redis/own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
const server = url === null ? null : await upstashServer({ redisUrl: url, token: "token" });
afterAll(async () => {
  await server?.close();
  await own?.close();
});

function opened(options: UpstashStoreOptions = {}) {
  const prefix = own!.next();
  return { prefix, store: upstashStore(new Redis({ url: server!.url, token: "token", retry: false }), { prefix, ...options }) };
}

describe.skipIf(url === null)("what only an Upstash client does", () => {
  it("reads JSON wherever it sees some: ids and keys that look like it stay text", async () => {
    const { store } = opened();
    const ids = ["123", "1e3", "007", "true", "null", '{"a":1}', "[]", '"a"', "OK", "\ufeffx", "T0s="];
    const children = ids.map((key) => ({
      key,
      head: { workflow: "w", status: "active", currentNodeId: null, activePaths: [], version: 0 } as const,
    }));
    const made = ids.map((id) => startCommit(id, { children, incarnation: `${ids.indexOf(id)}`, commitId: id, metadata: { [id]: id } }));
    for (const first of made) await store.create(first);
    const claimed = await claimAndLoad(store, { owner: "123", leaseMs: 60_000, limit: 100 });
    expect(claimed.map(({ claim }) => claim.workflowId)).toEqual(ids);
    expect(claimed.map(({ snapshot }) => snapshot)).toEqual(made.map((first) => snapshotAfter(first)));
    expect((await store.list()).items.map(({ workflowId }) => workflowId)).toEqual([...ids].reverse());
    for (const id of ids) expect((await store.events(id, -1, 10)).map(({ commitId }) => commitId)).toEqual([id]);
  });

  it("shares turns with a Redis store on the same prefix, by keys that look like JSON", async () => {
    const { store, prefix } = opened();
    const redis = redisStore(own!.redis, { prefix });
    const keys = ["123", "1e3", "true", "null", '{"a":1}', "[]", '"a"', "\ufeffx", "a\0b", "a\nb"];
    for (const [index, key] of keys.entries()) {
      const head = { permit: { key, limit: 1 } };
      await store.create(startCommit(`upstash-${index}`, { head }));
      await redis.create(startCommit(`redis-${index}`, { head }));
    }
    const lease = { owner: "worker", leaseMs: 60_000 };
    const claimed = [...(await claimAndLoad(redis, { ...lease, limit: 4 })), ...(await claimAndLoad(store, { ...lease, limit: 100 }))];
    expect(claimed.map(({ claim }) => claim.workflowId).sort()).toEqual(keys.map((_, index) => `upstash-${index}`).sort());
    for (const { claim, snapshot } of claimed) {
      const index = keys.indexOf(snapshot.permit!.key);
      expect(claim.workflowId).toBe(`upstash-${index}`);
      await store.release(claim, 0);
      const [next] = await redis.claim({ ...lease, limit: 1, permit: keys[index]! });
      expect(next?.workflowId).toBe(`redis-${index}`);
    }
    expect(await store.claim({ ...lease, limit: 100 })).toEqual([]);
  });

  it("asks over HTTP: an answer that was lost is unavailable, and the commit repeated is acknowledged and not doubled", async () => {
    const proxy = await cuttingProxy(new URL(server!.url));
    const redis = new Redis({ url: `http://127.0.0.1:${proxy.port}`, token: "token", retry: false });
    const store = upstashStore(redis, { prefix: own!.next() });
    const first = startCommit("a");
    const second = stepCommit(first, { output: 1 });
    await store.create(first);
    // the client tries twice even without retries, so two answers are cut
    proxy.cutAnswers(2);
    await expect(store.commit(second)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.commit(second);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect(await store.events("a", -1, 10)).toHaveLength(2);
    await proxy.close();
  });

  it("repeats requests by itself: what arrives twice is applied once", async () => {
    const proxy = await cuttingProxy(new URL(server!.url));
    const redis = new Redis({ url: `http://127.0.0.1:${proxy.port}`, token: "token", retry: { retries: 3, backoff: () => 10 } });
    const store = upstashStore(redis, { prefix: own!.next() });
    const first = startCommit("a");
    await store.create(first);
    proxy.cutAnswers(1);
    await store.commit(stepCommit(first));
    proxy.cutAnswers(1);
    await store.create(startCommit("b"));
    expect(await store.events("a", -1, 10)).toHaveLength(2);
    expect(await store.events("b", -1, 10)).toHaveLength(1);
    await proxy.close();
  });

  it.each([true, false])("quotes commands in its errors, ours do not (pipelining: %s)", async (enableAutoPipelining) => {
    const prefix = own!.next();
    const store = upstashStore(new Redis({ url: server!.url, token: "token", enableAutoPipelining }), { prefix });
    await own!.redis.set(`{${prefix}}:due`, "x");
    const refused = store.create(startCommit("a", { input: "a card number" }));
    await expect(refused).rejects.toMatchObject({ code: "STORE_REJECTED" });
    await refused.catch((error: Error) => {
      expect(String(error)).not.toContain("card");
      expect(String(error.cause)).not.toContain("card");
    });
  });

  it("is refused with a wrong token", async () => {
    const store = upstashStore(new Redis({ url: server!.url, token: "another", retry: false }));
    await expect(store.load("a")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.stringContaining("token") });
  });

  it("has a limit for one request: a commit of many parts that passes it is refused, and nothing is written", async () => {
    const { store } = opened({ maxValueBytes: 10_000 });
    const first = startCommit("a");
    await store.create(first);
    const large = stepCommit(first, { outputs: Array.from({ length: 10 }, () => "x".repeat(1_500)) });
    await expect(store.commit(large)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", details: { max: 10_000 } });
    expect(await store.load("a")).toEqual(snapshotAfter(first));
  });
});
