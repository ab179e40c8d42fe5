import { describe, expect, it } from "vitest";
import type { Claim, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { seededRandom, startCommit, stepCommit } from "../../../testing/index.ts";
import { MemoryTable } from "../../databases/memory/memory-table.ts";
import type { RowAnswer, RowWrite } from "../execution-rows.ts";
import { storeOver } from "../store-over.ts";
import { rateKeyOf } from "./rate-key.ts";

const lease = { owner: "worker", leaseMs: 10_000_000 };
const periodMs = 100_000;

/** A table with a clock that the test moves, and whose claims can be held back. */
class HeldTable extends MemoryTable {
  readonly clock: { now: number };
  /** Releases the claims that are held back. A claim whose function is not called is never made. */
  readonly held: (() => void)[] = [];
  holdsClaims = false;

  constructor(clock = { now: 1_000_000 }) {
    super(() => clock.now);
    this.clock = clock;
  }

  override async write(writes: readonly RowWrite[]): Promise<Exclude<RowAnswer, "passedOver" | Error>[]> {
    const isClaim = writes.some((write) => write.kind === "update" && write.set.owner === "slow");
    if (this.holdsClaims && isClaim) await new Promise<void>((resolve) => this.held.push(resolve));
    return super.write(writes);
  }
}

function opened() {
  const table = new HeldTable();
  const open = (): SnapshotStore => storeOver(table, { errorOf: (cause) => cause as never });
  return { table, store: open(), other: open() };
}

async function create(store: SnapshotStore, ids: readonly string[], limit: number): Promise<void> {
  for (const id of ids) await store.create(startCommit(id, { head: { rate: { key: "x", limit, periodMs } } }));
}

const idsOf = (claims: readonly Claim[]): string[] => claims.map(({ workflowId }) => workflowId);

async function record(table: HeldTable): Promise<{ grants: number[]; pending: unknown[] } | null> {
  const line = rateKeyOf({ key: "x" });
  const stored = (await table.records.get("permit", [line])).get(line);
  return stored ? JSON.parse(stored.text) : null;
}

describe("a first claim that was granted", () => {
  it("counts as just made until it was made, and then from that time on", async () => {
    const { table, store, other } = opened();
    await create(store, ["a", "b"], 1);
    table.holdsClaims = true;
    const claiming = other.claim({ ...lease, owner: "slow", limit: 1 });
    await expect.poll(() => table.held.length).toBe(1);
    table.clock.now += 9_000;
    expect(await store.claim({ ...lease, limit: 5 })).toEqual([]);
    table.held[0]!();
    expect(idsOf(await claiming)).toEqual(["a"]);
    expect(await record(table)).toMatchObject({ grants: [1_009_000], pending: [] });
    table.clock.now = 1_009_000 + periodMs - 1;
    expect(await store.claim({ ...lease, limit: 5, workflowId: "b" })).toEqual([]);
    table.clock.now += 1;
    expect(idsOf(await store.claim({ ...lease, limit: 5 }))).toEqual(["b"]);
  });

  it("cannot be made any more once another process has given it up", async () => {
    const { table, store, other } = opened();
    await create(store, ["a", "b"], 1);
    table.holdsClaims = true;
    const claiming = other.claim({ ...lease, owner: "slow", limit: 1 });
    await expect.poll(() => table.held.length).toBe(1);
    table.clock.now += 10_001;
    expect(idsOf(await store.claim({ ...lease, limit: 5 }))).toHaveLength(1);
    table.holdsClaims = false;
    table.held[0]!();
    expect(await claiming).toEqual([]);
    expect((await record(table))!.grants).toHaveLength(1);
  });

  it("leaves its room to the others when its process dies, although they were put off before", async () => {
    const { table, store, other } = opened();
    await create(store, ["a", "b", "c"], 1);
    table.holdsClaims = true;
    void other.claim({ ...lease, owner: "slow", limit: 1 });
    await expect.poll(() => table.held.length).toBe(1);
    table.clock.now += 1_000;
    expect(await store.claim({ ...lease, limit: 5 })).toEqual([]);
    table.clock.now += 9_000;
    expect(idsOf(await store.claim({ ...lease, limit: 5 }))).toEqual(["b"]);
    table.clock.now += periodMs - 1;
    expect(await store.claim({ ...lease, limit: 5 })).toEqual([]);
  });

  it("counts if it was made and its process died before it could say when", async () => {
    const { table, store } = opened();
    await create(store, ["a", "b"], 1);
    const { put } = table.records;
    let puts = 0;
    table.records.put = async (kind, writes) => {
      if (++puts > 1) throw new TypeError("gone");
      return put(kind, writes);
    };
    expect(idsOf(await store.claim({ ...lease, limit: 1, workflowId: "a" }))).toEqual(["a"]);
    table.records.put = put;
    table.clock.now += 10_001;
    expect(await store.claim({ ...lease, limit: 5 })).toEqual([]);
    expect(await record(table)).toMatchObject({ grants: [1_010_001], pending: [] });
  });
});

describe("the record of a rate", () => {
  it("has no more times than the limit, and goes with the last execution once they do not matter any more", async () => {
    const { table, store } = opened();
    const ids = Array.from({ length: 5 }, (_, index) => `e${index}`);
    await create(store, ids, 2);
    for (let round = 0; round < 3; round++) {
      table.clock.now += periodMs;
      for (const { workflowId, fence } of await store.claim({ ...lease, limit: 5 }))
        await store.commit(stepCommit((await store.load(workflowId))!, { fence, status: "completed" }));
    }
    expect((await record(table))!.grants).toHaveLength(2);
    await store.delete("e0");
    expect(await record(table)).not.toBeNull();
    table.clock.now += periodMs;
    await store.prune({ before: Number.MAX_SAFE_INTEGER });
    expect(await record(table)).toBeNull();
  });
});

describe("the record of a rate whose executions are deleted", () => {
  const rate = { key: "x", limit: 2, periodMs };
  const fields = { "only a rate": { rate }, "a concurrency key too": { rate, permit: { key: "k", limit: 1 } } };
  const ways = {
    delete: (store: SnapshotStore) => store.delete("a"),
    prune: (store: SnapshotStore) => store.prune({ before: Number.MAX_SAFE_INTEGER }),
  };
  const run = async (store: SnapshotStore, id: string, head: NonNullable<Parameters<typeof startCommit>[1]>["head"]) => {
    const first = startCommit(id, { head });
    await store.create(first);
    const [claim] = await store.claim({ ...lease, limit: 1, workflowId: id });
    await store.commit(stepCommit(first, { fence: claim!.fence, status: "completed" }));
  };

  describe.each(Object.entries(fields))("with %s", (_, head) => {
    it.each(Object.entries(ways))("goes by %s once its time is over", async (_way, remove) => {
      const { table, store } = opened();
      await run(store, "a", head);
      expect((await record(table))!.grants).toHaveLength(1);
      table.clock.now += periodMs;
      await remove(store);
      expect(await record(table)).toBeNull();
      expect((await table.records.get("permit", ["k"])).size).toBe(0);
    });

    it.each(
      Object.entries(ways),
    )("stays after a %s before its time is over, and goes with a later one of another key", async (_way, remove) => {
      const { table, store } = opened();
      await run(store, "a", head);
      await remove(store);
      table.clock.now += periodMs - 1;
      await run(store, "b", { rate: { ...rate, key: "y" } });
      await store.delete("b");
      expect(await record(table)).not.toBeNull();
      table.clock.now += 1;
      await run(store, "c", { rate: { ...rate, key: "z" } });
      await store.delete("c");
      expect(await record(table)).toBeNull();
    });
  });

  it("goes with a later one that another process deletes, and so does the list of what goes later", async () => {
    const { table, store, other } = opened();
    const keys = Array.from({ length: 100 }, (_, i) => `k${i}`);
    for (const key of keys) await run(store, key, { rate: { ...rate, key } });
    await Promise.all(keys.map((key) => store.delete(key)));
    table.clock.now += periodMs;
    const recordsOf = async (some: readonly string[]) =>
      (
        await table.records.get(
          "permit",
          some.map((key) => rateKeyOf({ key })),
        )
      ).size;
    expect(await recordsOf(keys)).toBe(100);
    await run(other, "later", { rate: { ...rate, key: "later" } });
    table.clock.now += periodMs;
    await other.delete("later");
    expect(await recordsOf([...keys, "later"])).toBe(0);
    expect((await table.records.get("permit", ['"rates to forget'])).size).toBe(0);
  });

  it("stays while one of its executions still counts", async () => {
    const { table, store } = opened();
    await run(store, "a", fields["a concurrency key too"]);
    await store.delete("a");
    table.clock.now += periodMs - 1;
    await run(store, "b", fields["only a rate"]);
    table.clock.now += 1;
    await store.delete("b");
    expect((await record(table))!.grants).toHaveLength(2);
  });

  it("stays if the execution cannot be read, which is deleted all the same", async () => {
    const { table, store } = opened();
    await run(store, "a", fields["a concurrency key too"]);
    table.clock.now += periodMs;
    table.heads = () => Promise.reject(new TypeError("damaged"));
    await store.delete("a");
    expect(await store.load("a")).toBeNull();
    expect(await record(table)).not.toBeNull();
  });
});

describe("a rate that executions with and without a concurrency key share", () => {
  const mixed = async (store: SnapshotStore, permitKey: string) => {
    const rate = { key: "x", limit: 10, periodMs };
    for (const id of ["b", "c", "d", "e"]) await store.create(startCommit(id, { head: { rate } }));
    for (const id of ["a", "f"]) await store.create(startCommit(id, { head: { rate, permit: { key: permitKey, limit: 2 } } }));
  };

  // the key of the line begins with a quotation mark, so these keys come before and after it
  it.each(["!", "k"])("is used as far as it may be, and no claim takes more than it asks for, with the key %s", async (permitKey) => {
    for (const limit of [1, 2, 3, 4, 6]) {
      const { store } = opened();
      await mixed(store, permitKey);
      const claimed: string[] = [];
      while (claimed.length < 6) {
        const ids = idsOf(await store.claim({ ...lease, limit }));
        expect(ids.length, `a claim of ${limit} after ${claimed}`).toBe(Math.min(limit, 6 - claimed.length));
        claimed.push(...ids);
      }
    }
  });
});

describe("the line of a rate", () => {
  it("is worked through in its order, however long each call takes", async () => {
    for (let seed = 0; seed < 100; seed++) {
      const random = seededRandom(`slow ${seed}`);
      const { table, store } = opened();
      const ids = ["c", "a", "d", "b"];
      for (const id of ids) await store.create(startCommit(id, { head: { rate: { key: "x", limit: 1, periodMs: 1_000 } } }));
      const { write } = table;
      table.write = (some) => {
        table.clock.now += random.between(0, 500);
        return write.call(table, some);
      };
      const order: string[] = [];
      while (order.length < ids.length) {
        table.clock.now += random.between(0, 300);
        order.push(...idsOf(await store.claim({ ...lease, limit: 1 })));
      }
      expect(order, `seed ${seed}`).toEqual(ids);
    }
  });

  it("is worked through with few looks at each execution, however many wait", async () => {
    const { table, store } = opened();
    const ids = Array.from({ length: 1_000 }, (_, index) => `e${index}`);
    await create(store, ids, 50);
    let writes = 0;
    const { write } = table;
    table.write = (some) => {
      writes += some.length;
      return write.call(table, some);
    };
    const claimed: string[] = [];
    for (let polls = 0; claimed.length < ids.length; polls++) {
      expect(polls).toBeLessThan(3_000);
      claimed.push(...idsOf(await store.claim({ ...lease, limit: 100 })));
      table.clock.now += 1_000;
    }
    expect(claimed).toEqual(ids);
    // for each execution: its claim, its place in the line, and for some a second place
    expect(writes).toBeLessThan(3_500);
    expect(table.clock.now - 1_000_000).toBeLessThan(19 * periodMs * 1.06);
  });

  // the first six seeds are orders in which room of a claim that was not made can stay unused for a whole period
  it.each([
    5, 27, 28, 29, 38, 48, 1, 2, 3, 4,
  ])("is used as far as it may be by several processes at once, in the order of seed %i", async (seed) => {
    const { table, store } = opened();
    const ids = Array.from({ length: 400 }, (_, index) => `e${index}`);
    await create(store, ids, 100);
    const random = seededRandom(`order ${seed}`);
    const later =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        for (let ticks = random.between(0, 2); ticks > 0; ticks--) await new Promise<void>((resolve) => setImmediate(resolve));
        return call.apply(table, args);
      };
    Object.assign(table, { read: later(table.read), due: later(table.due), write: later(table.write) });
    Object.assign(table.records, { get: later(table.records.get), put: later(table.records.put) });
    const processes = Array.from({ length: 4 }, () => storeOver(table, { errorOf: (cause) => cause as never }));
    const times: number[] = [];
    while (times.length < ids.length && table.clock.now < 1_000_000 + 5 * periodMs) {
      const claims = await Promise.all(processes.map((one) => one.claim({ ...lease, limit: 40 })));
      times.push(...claims.flat().map(({ claimedAt }) => claimedAt));
      table.clock.now += 2_000;
    }
    expect(times).toHaveLength(400);
    expect(times.filter((at, index) => index >= 100 && at - times[index - 100]! < periodMs)).toEqual([]);
    expect(times.at(-1)! - times[0]!).toBeLessThan(3 * periodMs * 1.1);
  });

  it("lets no row that cannot be read hold up the others", async () => {
    const { table, store } = opened();
    await create(store, ["a", "b"], 1);
    table.rows.set("a", { ...table.rows.get("a")!, head: "{" });
    expect(idsOf(await store.claim({ ...lease, limit: 5 })).sort()).toEqual(["a", "b"]);
  });
});
