import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { type IoredisClient, redisStore } from "../../../src/stores/databases/redis/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
afterAll(() => own?.close());

const lease = { owner: "worker", leaseMs: 60_000 };

/** A store, and what turns an execution in it into one as older versions have written it. */
function opened(client: IoredisClient = own!.redis) {
  const prefix = own!.next();
  const { redis } = own!;
  const head = (id: string): string => `{${prefix}}:e:${id}`;
  const age = async (id: string, dueAt: number): Promise<void> => {
    const seq = await redis.hget(head(id), "seq");
    await redis.hdel(head(id), "crashes");
    await redis.zadd(`{${prefix}}:due`, dueAt, seq!.padStart(16, "0") + id);
  };
  return { redis, store: redisStore(client, { prefix }), head, age };
}

describe.skipIf(url === null)("what older versions have written to Redis", () => {
  it("counts as never crashed, and is counted from then on", async () => {
    const { redis, store, head, age } = opened();
    const first = startCommit("a");
    await store.create(first, { claim: lease });
    await redis.hset(head("a"), "lease", 1);
    await age("a", 1);
    expect((await store.list()).items.map((item) => item.lease)).toEqual([{ owner: "worker", until: 1, crashes: 0 }]);
    const [claimed] = await store.claim({ ...lease, limit: 1 });
    expect(claimed?.claim).toMatchObject({ fence: 2, crashes: 1 });
    await store.commit(stepCommit(first, { fence: 2 }));
    expect((await store.list()).items.map((item) => item.lease)).toMatchObject([{ crashes: 0 }]);
  });

  it("is due, and overdue, if it was due at once", async () => {
    const { store, age } = opened();
    for (const id of ["a", "b", "c"]) {
      await store.create(startCommit(id));
      if (id !== "c") await age(id, 0);
    }
    const ids = async (options: { readonly overdueMs?: number; readonly workflowId?: string }): Promise<string[]> =>
      (await store.claim({ ...lease, limit: 10, ...options })).map(({ claim }) => claim.workflowId);
    expect(await ids({ overdueMs: 60_000, workflowId: "b" })).toEqual(["b"]);
    expect(await ids({ overdueMs: 60_000 })).toEqual(["a"]);
    expect(await ids({})).toEqual(["c"]);
  });
});

describe.skipIf(url === null)("what is overdue in Redis", () => {
  it("is found with one call, however much has just become due", async () => {
    let calls = 0;
    const counted: IoredisClient = {
      evalsha(sha1, numkeys, rest) {
        calls++;
        return own!.redis.evalsha(sha1, numkeys, rest);
      },
      eval: (script, numkeys, rest) => own!.redis.eval(script, numkeys, rest),
    };
    const { store, age } = opened(counted);
    const ids = Array.from({ length: 2_000 }, (_, index) => `id-${index}`);
    await Promise.all(ids.map((id) => store.create(startCommit(id))));
    await age("id-1500", Date.now() - 90_000);
    calls = 0;
    const claimed = await store.claim({ ...lease, limit: 50, overdueMs: 60_000 });
    expect(claimed.map(({ claim }) => claim.workflowId)).toEqual(["id-1500"]);
    expect(calls).toBe(1);
  });

  it("is what has been due for long, also after commits that say so again", async () => {
    const { redis, store, head } = opened();
    const first = startCommit("a");
    await store.create(first);
    const due = head("a").replace(/e:a$/, "due");
    const [member] = await redis.zrange(due, "0", "-1");
    await redis.zincrby(due, -90_000, member!);
    await store.commit(stepCommit(first, { wakeAt: 0 }));
    expect(await store.claim({ ...lease, limit: 1, overdueMs: 60_000 })).toHaveLength(1);
  });
});
