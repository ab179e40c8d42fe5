import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { Claim } from "../../../src/ports/snapshot-store.ts";
import { type IoredisClient, redisStore } from "../../../src/stores/databases/redis/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
afterAll(() => own?.close());

const lease = { owner: "worker", leaseMs: 60_000 };

/** Opens a store on a new prefix. `age` sets the time at which an execution is due. */
function opened(client: IoredisClient = own!.redis) {
  const prefix = own!.next();
  const { redis } = own!;
  const head = (id: string): string => `{${prefix}}:e:${id}`;
  const age = async (id: string, dueAt: number): Promise<void> => {
    const seq = await redis.hget(head(id), "seq");
    await redis.zadd(`{${prefix}}:due`, dueAt, seq!.padStart(16, "0") + id);
  };
  return { redis, prefix, store: redisStore(client, { prefix }), head, age };
}

describe.skipIf(url === null)("a prefix with the layout of another version", () => {
  it.each(["an older one", "2", "4"])("is refused with words that say so, and nothing is written: %s", async (kind) => {
    const { redis, prefix, store } = opened();
    if (kind === "an older one") await redis.set(`{${prefix}}:seq`, "7");
    else await redis.hset(`{${prefix}}:layout`, "version", kind);
    const before = await redis.keys(`{${prefix}}*`);
    const refused = { code: "STORE_REJECTED", message: expect.stringContaining("another layout") };
    await expect(store.create(startCommit("a"))).rejects.toMatchObject(refused);
    await expect(store.load("a")).rejects.toMatchObject(refused);
    await expect(store.claim({ ...lease, limit: 1 })).rejects.toMatchObject(refused);
    await expect(store.putDefinition("h", { id: "d", nodes: [], edges: [] })).rejects.toMatchObject(refused);
    expect(await redis.keys(`{${prefix}}*`)).toEqual(before);
  });
});

/** A client that counts its calls. */
function counting(): { readonly client: IoredisClient; calls: number } {
  const counted = {
    calls: 0,
    client: {
      evalsha(sha1: string, numkeys: number, rest: string[]): Promise<unknown> {
        counted.calls++;
        return own!.redis.evalsha(sha1, numkeys, rest);
      },
      eval: (script: string, numkeys: number, rest: string[]): Promise<unknown> => own!.redis.eval(script, numkeys, rest),
    },
  };
  return counted;
}

describe.skipIf(url === null)("a claim in Redis", () => {
  it("is one call, and so are loads of all that was claimed, commits, a renewal and a claim of nothing", async () => {
    const counted = counting();
    const { store } = opened(counted.client);
    const firsts = Array.from({ length: 40 }, (_, index) => startCommit(`id-${index}`));
    await Promise.all(firsts.map((first) => store.create(first)));
    const calls = async (work: () => Promise<unknown>): Promise<number> => {
      counted.calls = 0;
      await work();
      return counted.calls;
    };
    let claims: readonly Claim[] = [];
    expect(await calls(async () => (claims = await store.claim({ ...lease, limit: 50 })))).toBe(1);
    expect(claims).toHaveLength(40);
    expect(await calls(() => Promise.all(claims.map(({ workflowId }) => store.load(workflowId))))).toBe(1);
    expect(await calls(() => store.claim({ ...lease, limit: 50 }))).toBe(1);
    expect(await calls(() => store.renew(claims[0]!))).toBe(1);
    const fences = new Map(claims.map(({ workflowId, fence }) => [workflowId, fence]));
    const commits = firsts.map((first) => stepCommit(first, { fence: fences.get(first.workflowId)!, release: true }));
    expect(await calls(() => Promise.all(commits.map((commit) => store.commit(commit))))).toBe(1);
  });
});

describe.skipIf(url === null)("what is overdue in Redis", () => {
  it("is found with one call, however much has just become due", async () => {
    const counted = counting();
    const { store, age } = opened(counted.client);
    const ids = Array.from({ length: 2_000 }, (_, index) => `id-${index}`);
    await Promise.all(ids.map((id) => store.create(startCommit(id))));
    await age("id-1500", Date.now() - 90_000);
    counted.calls = 0;
    const claimed = await store.claim({ ...lease, limit: 50, overdueMs: 60_000 });
    expect(claimed.map(({ workflowId }) => workflowId)).toEqual(["id-1500"]);
    expect(counted.calls).toBe(1);
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
