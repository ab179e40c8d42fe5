import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { SnapshotHead } from "../../../src/core/snapshot/snapshot.ts";
import type { Claim, Commit } from "../../../src/ports/snapshot-store.ts";
import { type IoredisClient, redisStore } from "../../../src/stores/databases/redis/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
afterAll(() => own?.close());

const lease = { owner: "worker", leaseMs: 60_000 };

function opened(client: IoredisClient = own!.redis) {
  const prefix = own!.next();
  const { redis } = own!;
  const store = redisStore(client, { prefix });
  const key = (name: string): string => `{${prefix}}:${name}`;
  const claimed = async (
    options: { limit?: number; permit?: string; workflowId?: string; overdueMs?: number } = {},
  ): Promise<readonly Claim[]> => store.claim({ ...lease, limit: 100, ...options });
  const ids = async (options?: Parameters<typeof claimed>[0]): Promise<string[]> =>
    (await claimed(options)).map(({ workflowId }) => workflowId);
  const member = async (id: string): Promise<string> => ((await redis.hget(key(`e:${id}`), "seq")) ?? "").padStart(16, "0") + id;
  /** Changes the keys as if the lease of an execution had just ended. */
  const lapse = async (id: string, permit: string): Promise<void> => {
    const ended = Date.now() - 1;
    await redis.zadd(key(`w:${permit}`), ended, await member(id));
    await redis.zadd(key("later"), "XX", String(ended), permit);
  };
  return { redis, prefix, store, key, claimed, ids, member, lapse };
}

function permitted(workflowId: string, key: string, limit = 1, head: Partial<SnapshotHead> = {}): Commit {
  return startCommit(workflowId, { head: { ...head, permit: { key, limit } } });
}

/** A client whose scripts record every command that they run. `seen` reads the record. */
function noting(): { readonly client: IoredisClient; seen(): Promise<string[]> } {
  const { redis } = own!;
  const list = `{${own!.next()}}:seen`;
  const note = `
    local redis = (function(real)
      local function noted(name)
        return function(...)
          real.call("RPUSH", "${list}", table.concat({ ... }, " "))
          return real[name](...)
        end
      end
      return { call = noted("call"), pcall = noted("pcall") }
    end)(redis)
  `;
  const client: IoredisClient = {
    evalsha: () => Promise.reject(new TypeError("NOSCRIPT")),
    eval: (script, count, rest) => redis.eval(note + script, count, rest),
  };
  return {
    client,
    async seen() {
      const commands = await redis.lrange(list, 0, -1);
      await redis.del(list);
      return commands;
    },
  };
}

describe.skipIf(url === null)("executions with permits in Redis", () => {
  it("leave nothing behind, and all their keys lie in one slot", async () => {
    const { redis, prefix, store, key, claimed, ids, member } = opened();
    const made = ["a", "b"].map((id) => permitted(id, "}{x"));
    for (const first of made) await store.create(first);
    const [a] = await claimed();
    expect(a?.workflowId).toBe("a");
    const keys = (await redis.keys(`{${prefix}}*`)).sort();
    expect(keys).toEqual(["created", "e:a", "e:b", "h:a", "h:b", "layout", "permit", "ready", "w:}{x"].map(key));
    expect(await redis.zrange(key("w:}{x"), "0", "-1")).toEqual([await member("b"), await member("a")]);
    await store.commit(stepCommit(made[0]!, { fence: a!.fence, status: "completed" }));
    expect(await ids()).toEqual(["b"]);
    await store.commit(stepCommit(made[1]!, { status: "cancelled" }));
    for (const id of ["a", "b"]) await store.delete(id);
    // only the layout and the tombstones of the two executions are left
    expect((await redis.keys(`{${prefix}}*`)).sort()).toEqual(["e:a", "e:b", "layout"].map(key));
  });

  it("share the room with others: of each kind the longest due comes first", async () => {
    const { store, ids } = opened();
    for (const id of ["a", "x1", "b", "y1", "x2", "c"]) {
      await store.create(id.length === 1 ? startCommit(id) : permitted(id, id[0]!));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(await ids({ limit: 2 })).toEqual(["a", "b"]);
    // executions with a permit were left out, so they get half of the room of this claim
    expect(await ids({ limit: 2 })).toEqual(["x1", "c"]);
    expect(await ids()).toEqual(["y1"]);
  });

  it("cost others nothing: two commands of a claim, none of a create or a commit", async () => {
    const { client, seen } = noting();
    const { key, store } = opened(client);
    const first = startCommit("a");
    await store.create(first);
    const [claimed] = await store.claim({ ...lease, limit: 10 });
    await store.commit(stepCommit(first, { fence: claimed!.fence, release: true, wakeAt: 0 }));
    await store.claim({ ...lease, limit: 10 });
    const commands = await seen();
    const perClaim = [`EXISTS ${key("ready")}`, expect.stringContaining(`ZCOUNT ${key("later")} -inf `)];
    expect(commands.filter((command) => /:(ready|later|permit|exempt|w:.*)( |$)/.test(command))).toEqual([...perClaim, ...perClaim]);
    expect(commands.length).toBeGreaterThan(20);
  });

  it("are not looked at while they wait for one key, however many", async () => {
    const { client, seen } = noting();
    const { store, ids } = opened(client);
    const runs = Array.from({ length: 500 }, (_, index) => index);
    await Promise.all(runs.map((run) => store.create(permitted(`key.${run}`, "key"))));
    expect(await ids()).toHaveLength(1);
    await store.create(startCommit("plain"));
    await store.create(permitted("free", "other"));
    await seen();
    expect((await ids()).sort()).toEqual(["free", "plain"]);
    expect((await seen()).length).toBeLessThan(150);
  });

  it("are asked for together where many keys have no permit left", async () => {
    const { client } = noting();
    let calls = 0;
    const { store, ids } = opened({ ...client, eval: (...call) => [calls++, client.eval(...call)][1] as Promise<unknown> });
    const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
    for (const run of [1, 2]) await Promise.all(keys.map((key) => store.create(permitted(`${key}.${run}`, key))));
    expect((await ids()).sort()).toEqual(keys.map((key) => `${key}.1`).sort());
    calls = 0;
    expect(await ids()).toEqual([]);
    expect(calls).toBeLessThan(25);
  });

  it("are found when the leases of many have ended", async () => {
    const { store, ids, lapse } = opened();
    const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`);
    for (const key of keys) await store.create(permitted(`${key}.1`, key));
    expect(await ids()).toHaveLength(30);
    for (const key of keys) await store.create(permitted(`${key}.2`, key));
    expect(await ids()).toEqual([]);
    for (const key of keys) await lapse(`${key}.1`, key);
    // the waiting executions have been due for longer than those whose lease has just ended
    expect((await ids()).sort()).toEqual(keys.map((key) => `${key}.2`).sort());
    expect(await ids()).toEqual([]);
  });

  it("lose their place with their lease: it is renewed later only if there is one left", async () => {
    const { store, claimed, ids, lapse } = opened();
    const second = permitted("b", "x");
    for (const first of [permitted("a", "x"), second]) await store.create(first);
    const [a] = await claimed();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await lapse("a", "x");
    await store.renew(a!);
    expect(await ids()).toEqual([]);
    await lapse("a", "x");
    expect(await ids()).toEqual(["b"]);
    await expect(store.renew(a!)).rejects.toMatchObject({ code: "FENCE_LOST" });
    await store.commit(stepCommit(second, { status: "completed" }));
    expect(await ids()).toEqual(["a"]);
  });

  it("are not needed from a deadline on, which only a commit that moves it writes", async () => {
    const { client, seen } = noting();
    const { redis, key, store, member } = opened(client);
    const onExempt = async (): Promise<string[]> => (await seen()).filter((command) => command.includes(` ${key("exempt")}`));
    const first = permitted("a", "x", 1, { deadlineAt: 7_000 });
    await store.create(first);
    const a = await member("a");
    expect(await onExempt()).toEqual([`ZCARD ${key("exempt")}`, `ZADD ${key("exempt")} 7000 ${a}`]);
    let last = first;
    const commit = async (head: Partial<SnapshotHead>, more: Parameters<typeof stepCommit>[1] = {}): Promise<string[]> => {
      last = stepCommit(last, { ...more, head });
      await store.commit(last);
      return onExempt();
    };
    expect(await commit({})).toEqual([]);
    const sending = { outbox: [{ id: "0.0", to: "b", type: "ended" }] } as const;
    expect(await commit(sending)).toEqual([`ZCARD ${key("exempt")}`, `ZADD ${key("exempt")} 0 ${a}`]);
    expect(await redis.hget(key("e:a"), "exempt")).toBe("0");
    expect(await commit({ outbox: [] })).toEqual([`ZCARD ${key("exempt")}`, `ZADD ${key("exempt")} 7000 ${a}`]);
    const second = permitted("b", "x", 1, { deadlineAt: 8_000 });
    await store.create(second);
    await onExempt();
    expect(await commit({}, { status: "completed" })).toEqual([`ZCARD ${key("exempt")}`, `ZREM ${key("exempt")} ${a}`]);
    await store.delete("a");
    expect(await onExempt()).toEqual([]);
    expect(await redis.zrange(key("exempt"), "0", "-1", "WITHSCORES")).toEqual([await member("b"), "8000"]);
    await store.commit(stepCommit(second, { status: "cancelled" }));
    expect(await redis.exists(key("exempt"))).toBe(0);
  });

  it("are not needed where a deadline has passed: thousands that are held are not in the way, and the damaged neither", async () => {
    const { redis, key, store, ids } = opened();
    const create = async (id: string, deadlineAt: number): Promise<void> =>
      store.create(permitted(id, "x", 1, { deadlineAt })).then(() => {});
    await store.create(permitted("holder", "x"));
    expect(await ids()).toEqual(["holder"]);
    const held = Array.from({ length: 2_100 }, (_, index) => `held-${index}`);
    await Promise.all(held.map((id) => create(id, 1)));
    expect((await ids({ limit: 2_100 })).sort()).toEqual(held.sort());
    await create("late", 2);
    expect(await ids({ limit: 1 })).toEqual(["late"]);
    for (const id of ["gone", "lost", "odd", "later", "sound"]) await create(id, 3);
    await redis.del(key("e:gone"), key("e:odd"));
    await redis.set(key("e:odd"), "x");
    await redis.hdel(key("e:lost"), "seq");
    await redis.hset(key("e:later"), "exempt", String(Date.now() + 3_600_000));
    expect(await ids({ limit: 1 })).toEqual(["sound"]);
    expect(await ids({ limit: 1 })).toEqual([]);
  });

  it("and a key of that name that holds something else keeps only those from being written that have a deadline", async () => {
    const { redis, store, key } = opened();
    await redis.set(key("exempt"), "x");
    const first = permitted("a", "x");
    await store.create(first);
    await expect(store.create(permitted("b", "x", 1, { deadlineAt: 1 }))).rejects.toMatchObject({ code: "STORE_REJECTED" });
    expect(await store.load("b")).toBeNull();
    await store.commit(stepCommit(first, { status: "completed" }));
    await store.delete("a");
  });

  it("are in nobody's way if they are damaged, nor is a key that holds something else", async () => {
    const { redis, store, key, ids } = opened();
    for (const id of ["a", "b", "c", "d"]) await store.create(permitted(id, "x"));
    await redis.del(key("e:a"));
    await redis.hdel(key("e:b"), "seq");
    await redis.del(key("e:c"));
    await redis.set(key("e:c"), "x");
    expect(await ids()).toEqual(["d"]);
    await redis.set(key("w:y"), "x");
    await expect(store.create(permitted("e", "y"))).rejects.toMatchObject({ code: "STORE_REJECTED" });
    expect(await store.load("e")).toBeNull();
  });
});
