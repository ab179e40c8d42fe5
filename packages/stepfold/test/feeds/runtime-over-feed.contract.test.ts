import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import { postgresFeed } from "../../src/feeds/postgres/index.ts";
import { redisFeed } from "../../src/feeds/redis/index.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { EventFeed } from "../../src/ports/event-feed.ts";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import { feedHearsItself } from "../../src/runtime/index.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { postgresStore } from "../../src/stores/databases/postgres/index.ts";
import { redisStore } from "../../src/stores/databases/redis/index.ts";
import { cuttableProxy } from "../stores/cuttable-proxy.fixture.ts";

const [postgresUrl, redisUrl] = [await serviceUrl("postgres"), await serviceUrl("redis")];
const name = `feed_runtime_${process.pid}`;
const pool = new pg.Pool({ connectionString: postgresUrl ?? "", max: 4 });
const redis = new Redis(redisUrl ?? "", { lazyConnect: true });
const feeds: EventFeed[] = [];
const runtimes: Runtime[] = [];

afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
  await Promise.all(feeds.splice(0).map((feed) => feed.close()));
});
afterAll(async () => {
  if (postgresUrl !== null) await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
  await pool.end();
  if (redisUrl === null) return;
  const keys = await redis.keys(`{${name}}:*`);
  if (keys.length > 0) await redis.del(...keys);
  await redis.quit();
});

const approval = { id: "ask", nodes: [{ id: "ask", type: "approval" }], edges: [] };
const problems: unknown[] = [];

function open(store: SnapshotStore, feed: EventFeed, drive: boolean): Runtime {
  feeds.push(feed);
  const onProblem = (_: string | null, error: unknown) => problems.push(error);
  // no worker polls while the test runs, so only notices of the feed can wake it
  const options = { store, feed, drive, pollMs: 60_000, workflows: [approval], nodeDefinitions: builtinNodes, onProblem };
  const runtime = createRuntime(options as never);
  runtimes.push(runtime);
  return runtime;
}

/** Expects that a worker takes the answer of one process within seconds, and that a third process sees the result. */
async function answeredAtOnce(client: Runtime, waiter: Runtime): Promise<void> {
  const run = await client.start("ask");
  const there = await waiter.get(run.workflowId);
  const result = there.result({ timeoutMs: 10_000 });
  result.catch(() => undefined);
  await there.waitFor({ step: "ask" }, { timeoutMs: 10_000 });
  await run.resume({ payload: { approved: true } });
  expect(await result).toEqual({ approved: true });
}

/** Repeats the check until it succeeds. */
async function settles(isSo: () => Promise<unknown>): Promise<void> {
  await expect
    .poll(
      () =>
        isSo().then(
          () => true,
          () => false,
        ),
      { timeout: 20_000, interval: 50 },
    )
    .toBe(true);
}

describe.skipIf(postgresUrl === null)("a runtime with a feed on PostgreSQL", () => {
  const feedVia = (url: string) => postgresFeed(pool, () => new pg.Client({ connectionString: url }), { channel: name });
  const storeOf = () => postgresStore(pool, { schema: name, migrate: true });

  it("sees at once what other processes do, also after its connection was cut", async () => {
    const proxy = await cuttableProxy(postgresUrl!);
    const { pathname, username, password } = new URL(postgresUrl!);
    const through = new URL(proxy.url);
    Object.assign(through, { pathname, username, password });
    const store = storeOf();
    open(store, feedVia(through.href), true);
    const [client, waiter] = [open(store, feedVia(postgresUrl!), false), open(store, feedVia(through.href), false)];
    await answeredAtOnce(client, waiter);
    proxy.cut();
    await settles(() => answeredAtOnce(client, waiter));
    await proxy.close();
  }, 60_000);

  it("says that it hears nothing where notices are kept back, and polls", async () => {
    // notices of PostgreSQL reach only listeners on the same database, so this feed hears nothing, like a feed behind a pooler
    const elsewhere = new URL(postgresUrl!);
    elsewhere.pathname = "/template1";
    const feed = feedVia(elsewhere.href);
    expect(await feedHearsItself(feed)).toBe(false);
    expect(await feedHearsItself(feedVia(postgresUrl!))).toBe(true);
    problems.length = 0;
    open(storeOf(), feed, true);
    await expect.poll(() => problems, { timeout: 5_000 }).toMatchObject([{ code: "FEED_UNAVAILABLE", message: /does not hear its own/ }]);
  }, 60_000);
});

describe.skipIf(redisUrl === null)("a runtime with a feed on Redis", () => {
  it("sees at once what other processes do, also after its connection was cut", async () => {
    const proxy = await cuttableProxy(redisUrl!);
    const through = new Redis(proxy.url);
    through.on("error", () => undefined);
    const feedOver = (client: Redis) => redisFeed(client, { channel: name });
    const store = redisStore(redis, { prefix: name });
    open(store, feedOver(through), true);
    const [client, waiter] = [open(store, feedOver(redis), false), open(store, feedOver(through), false)];
    await answeredAtOnce(client, waiter);
    proxy.cut();
    await settles(() => answeredAtOnce(client, waiter));
    for (const runtime of runtimes.splice(0)) await runtime.close();
    for (const feed of feeds.splice(0)) await feed.close();
    through.disconnect();
    await proxy.close();
  }, 60_000);
});
