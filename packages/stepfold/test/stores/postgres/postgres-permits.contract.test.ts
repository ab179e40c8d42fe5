import { afterAll, describe, expect, it } from "vitest";
import type { Claim, ClaimOptions, Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { type PostgresClient, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { claimAndLoad, type LoadedClaim } from "../../../src/testing/claim-and-load.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(20);
const watcher = poolOf(1);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await watcher.end();
  await pool.end();
});

/** Opens handles on the same data, one for each of some processes. */
async function handles(count: number, client: PostgresClient = pool): Promise<{ schema: string; stores: SnapshotStore[] }> {
  const schema = newSchema();
  schemas.push(schema);
  await postgresStore(pool, { schema, migrate: true }).list();
  const options = { schema, idempotencyRetentionMs: 0 };
  return { schema, stores: Array.from({ length: count }, () => postgresStore(client, options)) };
}

function permitted(workflowId: string, key: string, limit: number): Commit {
  const permit = { key, limit };
  const commit = startCommit(workflowId, { head: { permit } });
  return { ...commit, events: commit.events.map((event) => ({ ...event, permit }) as Commit["events"][number]) };
}

/** Copies the execution "model" `count` times, without a holder and with other keys and due times. */
async function copies(schema: string, count: number, key: string, dueAt: string): Promise<void> {
  await pool.query(`
    INSERT INTO "${schema}".executions (id, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes,
      wake_at, due_at, fence, created_at, updated_at, permit_key, permit_limit)
    SELECT ${key} || number, incarnation, definition_id, definition, metadata, labels, version, status, head, size_bytes,
      wake_at, ${dueAt}, 0, created_at, updated_at, ${key}, permit_limit
    FROM "${schema}".executions, generate_series(1, ${count}) AS number WHERE id = 'model'`);
}

const lease = { owner: "worker", leaseMs: 600_000 };
const idsOf = (claimed: readonly Claim[]): string[] => claimed.map(({ workflowId }) => workflowId);

/**
 * Claims in different ways from 40 loops at once, until every execution has ended. Returns the number of claims, and the most executions of
 * each key that were driven at once.
 */
async function race(stores: readonly SnapshotStore[], open: Set<string>): Promise<{ claims: number; most: Record<string, number> }> {
  const driven: Record<string, number> = { x: 0, y: 0 };
  const most = { ...driven };
  let claims = 0;
  const givenBack = new Set<string>();
  const drive = async (store: SnapshotStore, { claim, snapshot }: LoadedClaim, turn: number): Promise<void> => {
    const { key } = snapshot.permit!;
    most[key] = Math.max(most[key]!, ++driven[key]!);
    if (turn % 2 === 0) await store.renew(claim);
    driven[key]!--;
    if (turn % 3 === 0 && !givenBack.has(claim.workflowId)) {
      givenBack.add(claim.workflowId);
      return store.release(claim, snapshot.version);
    }
    if (snapshot.version === 0) return store.commit(stepCommit(snapshot, { fence: claim.fence, release: true }));
    await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
    open.delete(claim.workflowId);
  };
  const work = async (racer: number): Promise<void> => {
    const store = stores[racer % stores.length]!;
    for (let turn = racer; open.size > 0; turn++) {
      const workflowId = [...open][(turn * 7) % open.size]!;
      const which: Partial<ClaimOptions> = turn % 3 === 0 ? { permit: turn % 2 ? "x" : "y" } : turn % 3 === 1 ? { workflowId } : {};
      // some holders never come back, so their leases end
      const isLost = turn % 11 === 0;
      const claimed = await claimAndLoad(store, {
        owner: `racer-${racer}`,
        leaseMs: isLost ? 100 : 60_000,
        limit: 1 + (turn % 4),
        ...which,
      });
      claims++;
      if (!isLost) await Promise.all(claimed.map((one) => drive(store, one, turn)));
    }
  };
  await Promise.all(Array.from({ length: 40 }, (_, racer) => work(racer)));
  return { claims, most };
}

/** Counts again and again how many executions of each key are held, and returns the largest counts. */
async function watch(schema: string, isOver: () => boolean): Promise<Record<string, number>> {
  const most: Record<string, number> = {};
  while (!isOver()) {
    const { rows } = await watcher.query(
      `SELECT permit_key AS key, count(*)::int FROM "${schema}".executions
      WHERE owner IS NOT NULL AND due_at > floor(extract(epoch FROM clock_timestamp()) * 1000) GROUP BY permit_key`,
    );
    for (const { key, count } of rows) most[key] = Math.max(most[key] ?? 0, count);
  }
  return most;
}

describe.skipIf(url === null)("PostgreSQL: permits", () => {
  it.each([1, 3, 10])("lets no more than %i of a key in at once, and everybody in the end, however many claim", async (limit) => {
    const { schema, stores } = await handles(4);
    const ids = ["x", "y"].flatMap((key) => Array.from({ length: 15 }, (_, index) => `${key}-${index}`));
    await Promise.all(ids.map((id) => stores[0]!.create(permitted(id, id[0]!, limit))));
    const open = new Set(ids);
    const watched = watch(schema, () => open.size === 0);
    const { claims, most } = await race(stores, open);
    const seen = await watched;
    for (const key of ["x", "y"]) {
      expect(most[key]).toBeLessThanOrEqual(limit);
      expect(seen[key]).toBeLessThanOrEqual(limit);
    }
    // the claims have really raced, because there were more than two claims for each execution
    expect(claims).toBeGreaterThan(2 * ids.length);
    expect((await stores[0]!.list({ status: ["completed"] })).items.length).toBe(ids.length);
  }, 60_000);

  it("lets claims of many keys at once past one another", async () => {
    const { schema, stores } = await handles(4);
    const keys = Array.from({ length: 12 }, (_, index) => `key-${(index * 7) % 12}`);
    const open = new Set(keys.flatMap((key) => ["a", "b", "c", "d"].map((part) => `${key}-${part}`)));
    await Promise.all([...open].map((id) => stores[0]!.create(permitted(id, id.slice(0, -2), 2))));
    const watched = watch(schema, () => open.size === 0);
    const work = async (racer: number): Promise<void> => {
      while (open.size > 0) {
        const claimed = await claimAndLoad(stores[racer % 4]!, { ...lease, limit: 1 + racer });
        await Promise.all(
          claimed.map(({ claim, snapshot }) =>
            stores[racer % 4]!.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" })),
          ),
        );
        for (const { claim } of claimed) open.delete(claim.workflowId);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, racer) => work(racer)));
    for (const most of Object.values(await watched)) expect(most).toBeLessThanOrEqual(2);
  });

  it("gives a place that is let go to one of those who wait, and never to two", async () => {
    const { stores } = await handles(2);
    const [store, other] = stores as [SnapshotStore, SnapshotStore];
    for (const id of ["a", "b", "c"]) await store.create(permitted(id, "x", 1));
    let [held] = await store.claim({ ...lease, limit: 1 });
    for (let round = 0; round < 100; round++) {
      const claims = Array.from({ length: 6 }, (_, index) => [store, other][index % 2]!.claim({ ...lease, limit: 1, permit: "x" }));
      const [, ...raced] = await Promise.all([store.release(held!, 0), ...claims]);
      const next = raced.flat();
      expect(next.length).toBeLessThanOrEqual(1);
      [held] = next.length === 1 ? next : await other.claim({ ...lease, limit: 3 });
      expect(held).toBeDefined();
    }
  });

  it("finds the keys that are free behind hundreds that wait for another one, one after the other", async () => {
    const { schema, stores } = await handles(1);
    const [store] = stores as [SnapshotStore];
    await store.create(permitted("model", "m", 1));
    expect((await store.claim({ ...lease, limit: 1 })).length).toBe(1);
    await copies(schema, 400, "'m'", "1000 + number");
    const free = ["a1", "a2", "a3", "m1", "z1", "z2", "z3"];
    for (const key of free) for (const part of [1, 2]) await store.create(permitted(`${key}-${part}`, key, 1));
    const claimed: string[] = [];
    for (let round = 0; round < 4; round++) claimed.push(...idsOf(await store.claim({ ...lease, limit: 2 })));
    expect(claimed.sort()).toEqual(free.map((key) => `${key}-1`));
    expect(await store.claim({ ...lease, limit: 10 })).toEqual([]);
  });

  it("finds it among thousands of keys, too, with a few claims", async () => {
    const { schema, stores } = await handles(1);
    const [store] = stores as [SnapshotStore];
    await store.create(permitted("model", "m", 1));
    expect((await store.claim({ ...lease, limit: 1 })).length).toBe(1);
    await copies(schema, 400, "'m'", "1000 + number");
    await copies(schema, 1700, "'later-' || number", "4000000000000 + number");
    await store.create(permitted("last", "z", 1));
    const claimed: string[] = [];
    for (let round = 0; round < 3; round++) claimed.push(...idsOf(await store.claim({ ...lease, limit: 2 })));
    expect(claimed).toEqual(["last"]);
  });

  it("gives those with a permit their turn, too, where there are always enough others", async () => {
    const { stores } = await handles(1);
    const [store] = stores as [SnapshotStore];
    for (const id of ["k1", "k2", "k3", "k4"]) await store.create(permitted(id, id, 1));
    await Promise.all(Array.from({ length: 40 }, (_, index) => store.create(startCommit(`plain-${index}`))));
    const claimed: string[] = [];
    for (let round = 0; round < 5; round++) {
      const some = idsOf(await store.claim({ ...lease, limit: 2 }));
      expect(some.length).toBe(2);
      claimed.push(...some);
    }
    expect(claimed.filter((id) => id.startsWith("k"))).toEqual(["k1", "k2", "k3", "k4"]);
  });

  it("lets a permit be taken whose holder never claims, when its time is over", async () => {
    const { schema, stores } = await handles(1);
    const [store] = stores as [SnapshotStore];
    const commit = permitted("a", "x", 1);
    await store.create(commit);
    const put = async (id: string, untilMs: number): Promise<void> => {
      const holder = { id, incarnation: commit.incarnation, fence: 9, until: (await store.now()) + untilMs };
      await pool.query(
        `INSERT INTO "${schema}".records (kind, key, revision, value) VALUES ('permit', 'x', 'r', $1)
        ON CONFLICT (kind, key) DO UPDATE SET value = EXCLUDED.value`,
        [JSON.stringify([holder])],
      );
    };
    await put("a", 60_000);
    expect(await store.claim({ ...lease, limit: 1 })).toEqual([]);
    await put("a", -1);
    expect(idsOf(await store.claim({ ...lease, limit: 1 }))).toEqual(["a"]);
    // an execution that does not exist holds no permit
    await store.create(permitted("b", "x", 2));
    await put("gone", 60_000);
    expect(idsOf(await store.claim({ ...lease, limit: 1 }))).toEqual(["b"]);
  });

  it("forgets a key with the last of its executions, and not before", async () => {
    const { schema, stores } = await handles(1);
    const [store] = stores as [SnapshotStore];
    const keys = async () =>
      (await pool.query(`SELECT key FROM "${schema}".records WHERE kind = 'permit' ORDER BY key`)).rows.map(({ key }) => key);
    const ids = ["a", "b", "c"];
    for (const id of ids) await store.create(permitted(id, id === "c" ? "y" : "x", 2));
    const held = await claimAndLoad(store, { ...lease, limit: 3 });
    const end = (id: string) => {
      const { claim, snapshot } = held.find((one) => one.claim.workflowId === id)!;
      return store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
    };
    await end("a");
    await store.delete("a");
    expect(await keys()).toEqual(["x", "y"]);
    await end("b");
    await end("c");
    await store.prune({ before: Date.now() + 60_000 });
    expect(await keys()).toEqual([]);
  });

  it("does not keep the key of an execution that was deleted, nor give it to the next of its id", async () => {
    const { schema, stores } = await handles(1);
    const [store] = stores as [SnapshotStore];
    const kept = async () => (await pool.query(`SELECT permit_key FROM "${schema}".executions WHERE id = 'a'`)).rows[0].permit_key;
    const first = permitted("a", "customer-7", 1);
    await store.create(first);
    await store.commit(stepCommit(first, { status: "cancelled" }));
    await store.delete("a");
    expect(await kept()).toBe(null);
    await store.create(startCommit("a"), { claim: lease });
    expect(await kept()).toBe(null);
  });

  it("holds nobody up for the sake of other keys, also of one that is asked for by its id", async () => {
    const { stores } = await handles(1);
    const [store] = stores as [SnapshotStore];
    for (const key of ["u", "v", "w"]) await store.create(permitted(key, key, 1));
    expect(idsOf(await store.claim({ ...lease, limit: 1, permit: "u" }))).toEqual(["u"]);
    expect(idsOf(await store.claim({ ...lease, limit: 1, workflowId: "v" }))).toEqual(["v"]);
    expect(idsOf(await store.claim({ ...lease, limit: 1 }))).toEqual(["w"]);
  });

  it("gives a claim that is renewed too late its place again, or not, but never to it and another", async () => {
    const { schema, stores } = await handles(2);
    const [store, other] = stores as [SnapshotStore, SnapshotStore];
    for (let round = 0; round < 30; round++) {
      for (const part of ["a", "b"]) await store.create(permitted(`${part}-${round}`, `key-${round}`, 1));
      const [held] = await store.claim({ ...lease, limit: 1, permit: `key-${round}` });
      // ends the lease of the holder
      await pool.query(`UPDATE "${schema}".executions SET due_at = 1 WHERE id = $1`, [held!.workflowId]);
      const claim = () => other.claim({ ...lease, limit: 1, workflowId: `b-${round}` });
      const renewal = store.renew(held!).then(
        () => 1,
        () => 0,
      );
      const [isRenewed, claimed] = await Promise.all([renewal, claim()]);
      expect(isRenewed + claimed.length).toBe(1);
      expect(await claim()).toEqual([]);
    }
  });

  it("gives each of those that are made together its own permit", async () => {
    const { stores } = await handles(1);
    const [store] = stores as [SnapshotStore];
    const keys = ["a", null, "\u001e", "a", null, "\\ b"];
    const made = await Promise.all(
      keys.map((key, index) =>
        store.create(key === null ? startCommit(`id-${index}`) : permitted(`id-${index}`, key, 1), { claim: lease }),
      ),
    );
    expect(made.map((claim) => claim?.workflowId)).toEqual([undefined, "id-1", undefined, undefined, "id-4", undefined]);
    expect(idsOf(await store.claim({ ...lease, limit: 10 })).sort()).toEqual(["id-0", "id-2", "id-5"]);
    expect(idsOf(await store.claim({ ...lease, limit: 10, permit: "\u001e" }))).toEqual([]);
  });
});
