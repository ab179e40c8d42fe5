import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { SnapshotHead } from "../../../src/core/snapshot/snapshot.ts";
import type { ClaimOptions, Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { DynamoDocumentClient } from "../../../src/stores/databases/dynamo/dynamo-client.ts";
import { dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { methodsOf, useTable } from "./dynamo-bench.fixture.ts";

const url = await serviceUrlOrSkip("dynamodb");
const local = useTable(url);
const lease = { owner: "worker", leaseMs: 1_000 };

/** Opens stores of one prefix on a clock that the test sets, and records their calls. */
async function opened(prefix: string) {
  const { client, table } = await local();
  const document = DynamoDBDocument.from(client);
  const clock = { now: 1_000_000 };
  const calls: string[] = [];
  /** @param changed methods that replace those of the client */
  const open = (changed: Partial<DynamoDocumentClient> = {}): SnapshotStore => {
    const counting = new Proxy(
      { ...methodsOf(document), ...changed },
      {
        get: (methods, name: keyof DynamoDocumentClient) => (input: never) => {
          calls.push(name);
          return methods[name](input);
        },
      },
    );
    return dynamoStore(counting, { table, prefix, now: () => clock.now });
  };
  const row = async (key: string) => {
    const { Item: item } = await document.get({
      TableName: table,
      Key: { pk: `${prefix}.permit#${key}`, sk: "record" },
      ConsistentRead: true,
    });
    return item && { ...item, holders: (JSON.parse(item.text) as { id: string }[]).map(({ id }) => id) };
  };
  return { open, store: open(), clock, calls, row, document };
}

function permitted(id: string, key: string, limit = 1, head: Partial<SnapshotHead> = {}): Commit {
  return startCommit(id, { head: { ...head, permit: { key, limit } } as Partial<SnapshotHead> });
}

async function fill(store: SnapshotStore, ids: readonly string[], key = "x", limit = 1): Promise<void> {
  for (const id of ids) await store.create(permitted(id, key, limit));
}

async function claimed(store: SnapshotStore, options: Partial<ClaimOptions> = {}): Promise<string[]> {
  return (await store.claim({ ...lease, limit: 10, ...options })).map(({ workflowId }) => workflowId);
}

describe.skipIf(url === null)("permits in DynamoDB", () => {
  it("cost one small query where nobody has one, and no transaction", async () => {
    const { store, calls, clock } = await opened("nobody");
    const queries = ["query", "query", "query", "query"];
    for (let poll = 0; poll < 3; poll++) {
      expect(await claimed(store)).toEqual([]);
      expect(calls.splice(0)).toEqual([...queries, "query"]);
      clock.now += 1_000;
    }
    const first = startCommit("a");
    await store.create(first);
    await store.create(startCommit("b"));
    calls.length = 0;
    const [claim] = await store.claim({ ...lease, limit: 1, workflowId: "a" });
    expect(claim?.workflowId).toBe("a");
    expect(calls.splice(0)).toEqual(["batchGet", "update"]);
    expect(await claimed(store, { limit: 1 })).toEqual(["b"]);
    // the number of queries is not checked, because a second query is made if more executions may be due at the same time
    expect(calls.splice(0).filter((name) => name !== "query")).toEqual(["batchGet", "update"]);
    await store.commit(stepCommit(first, { fence: claim!.fence, release: true }));
    expect(calls.splice(0)).toEqual(["transactWrite"]);
  });

  it("leave commits and renewals as they are: the row of the key is not touched when a claim ends", async () => {
    const { store, open, calls, row } = await opened("ends");
    await fill(store, ["a", "b"]);
    const [{ claim, snapshot } = expect.fail("nothing was claimed")] = await claimAndLoad(store, { ...lease, limit: 1 });
    const before = await row("x");
    const step = stepCommit(snapshot, { fence: claim.fence });
    calls.length = 0;
    await store.commit(step);
    await store.renew(claim);
    expect(calls.splice(0)).toEqual(["transactWrite", "update"]);
    const other = open();
    expect(await other.renew(claim)).toMatchObject({ version: 1 });
    expect(calls.splice(0)).toEqual(["get", "update"]);
    await other.renew(claim);
    await store.commit(stepCommit(step, { fence: claim.fence, release: true, status: "paused" }));
    expect(calls).toEqual(["update", "transactWrite"]);
    expect(await row("x")).toEqual(before);
    expect(await claimed(store)).toEqual(["b"]);
    expect((await row("x"))?.holders).toEqual(["b"]);
  });

  it("a claim whose lease has ended cannot be renewed once its place was given away, and counts as one that was lost", async () => {
    const { store, clock } = await opened("lapsed");
    await fill(store, ["a", "b"]);
    const [claim = expect.fail("nothing was claimed")] = await store.claim({ ...lease, limit: 1 });
    clock.now += 1_001;
    expect(await store.renew(claim)).toMatchObject({ version: 0 });
    expect(await claimed(store)).toEqual([]);
    clock.now += 1_001;
    expect(await claimed(store, { workflowId: "b" })).toEqual(["b"]);
    await expect(store.renew(claim)).rejects.toMatchObject({ code: "FENCE_LOST" });
    const { items } = await store.list();
    expect(items.map((item) => item.lease?.crashes ?? null)).toEqual([0, null]);
    await store.commit(stepCommit((await store.load("b"))!, { status: "cancelled" }));
    const [again] = await store.claim({ ...lease, limit: 1 });
    expect(again).toMatchObject({ workflowId: "a", crashes: 1 });
    expect(again?.fence).toBeGreaterThan(claim.fence);
  });

  it("a claim whose answer was lost holds its place until its lease ends, and nobody holds a second one", async () => {
    const { store, open, document, clock } = await opened("lost");
    await fill(store, ["a", "b"]);
    const lossy = open({
      async update(input) {
        await document.update(input);
        throw Object.assign(new Error("socket hang up"), { name: "NetworkingError" });
      },
    });
    await expect(lossy.claim({ ...lease, limit: 1 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await claimed(store)).toEqual([]);
    clock.now += 1_001;
    expect(await claimed(store)).toHaveLength(1);
    expect(await claimed(store)).toEqual([]);
  });

  it("indexes that lag give nobody a place twice, and nothing to one who has ended", async () => {
    const { store, open, document } = await opened("lag");
    const first = permitted("a", "x", 2);
    await store.create(first);
    await fill(store, ["b", "c", "d"], "x", 2);
    // the answers of the index, as they are at the first query
    const then = new Map<string, ReturnType<DynamoDocumentClient["query"]>>();
    const lagging = open({
      query(input) {
        if (!input.IndexName) return document.query(input);
        const asked = JSON.stringify(input);
        if (!then.has(asked)) then.set(asked, document.query(input));
        return then.get(asked)!;
      },
    });
    expect(await claimed(lagging, { permit: "x", limit: 1 })).toEqual(["a"]);
    await store.commit(stepCommit(first, { status: "cancelled" }));
    expect(await claimed(lagging, { permit: "x", limit: 1 })).toEqual(["b"]);
    expect(await claimed(lagging, { permit: "x", limit: 1 })).toEqual(["c"]);
    expect(await claimed(lagging, { permit: "x", limit: 1 })).toEqual([]);
    expect(await claimed(lagging)).toEqual([]);
  });

  it("of many keys each has its turn, however few are claimed at once, and those that wait cost a few calls", {
    timeout: 60_000,
  }, async () => {
    const { store, calls } = await opened("many");
    const keys = Array.from({ length: 60 }, (_, index) => `key-${String(index).padStart(3, "0")}`);
    await Promise.all(keys.map((key) => fill(store, [`${key}.a`, `${key}.b`], key)));
    const had: string[] = [];
    for (let found = await claimed(store, { limit: 7 }); found.length > 0; found = await claimed(store, { limit: 7 })) had.push(...found);
    expect(had.sort()).toEqual(keys.map((key) => `${key}.a`));
    calls.length = 0;
    expect(await claimed(store)).toEqual([]);
    // the executions of 60 keys are due, and all of them wait for a permit
    expect(calls.length).toBeLessThan(20);
  });

  it("as many of each key are claimed at once as are free, longest due first", { timeout: 60_000 }, async () => {
    const { store, clock } = await opened("free");
    const ids = (key: string): string[] => Array.from({ length: 24 }, (_, index) => `${key}${String(index).padStart(2, "0")}`);
    for (const id of ids("x")) {
      clock.now++;
      await store.create(permitted(id, "x", 20));
    }
    await Promise.all(ids("y").map((id) => store.create(permitted(id, "y", 22))));
    const had = await claimed(store, { limit: 100 });
    expect(had.filter((id) => id.startsWith("x"))).toEqual(ids("x").slice(0, 20));
    expect(had.filter((id) => id.startsWith("y"))).toHaveLength(22);
  });

  it("are not needed from a deadline on, which is in an index that a step leaves as it is", async () => {
    const { store, open, document, calls } = await opened("deadline");
    const { table } = await local();
    const entry = async (): Promise<unknown> => {
      const { Item: item } = await document.get({ TableName: table, Key: { pk: "deadline.x#a", sk: "head" }, ConsistentRead: true });
      return [item?.exemptList, item?.exemptSort];
    };
    let last = permitted("a", "x", 1, { deadlineAt: 7_000 });
    const commit = async (with_: SnapshotStore, head: Partial<SnapshotHead>, more: Parameters<typeof stepCommit>[1] = {}) => {
      last = stepCommit(last, { ...more, head, fence: claim.fence });
      calls.length = 0;
      await with_.commit(last);
      return entry();
    };
    await store.create(last);
    const [claim = expect.fail("nothing was claimed")] = await store.claim({ ...lease, limit: 1 });
    const [{ createdAt } = expect.fail("nothing is listed")] = (await store.list()).items;
    const entryAt = (time: number): unknown => [
      "deadline.exempt#0",
      expect.stringMatching(new RegExp(`^0{10,}${time}\\.0*${createdAt}\\.\\d{16}$`)),
    ];
    const stored = await entry();
    expect(stored).toEqual(entryAt(7_000));
    expect(await commit(store, {})).toEqual(stored);
    expect(calls).toEqual(["transactWrite"]);
    const sending = { outbox: [{ id: "0.0", to: "b", type: "ended" }] } as const;
    // a store that has not seen the execution reads when it was made
    expect(await commit(open(), sending)).toEqual(entryAt(0));
    expect(calls).toEqual(["get", "transactWrite"]);
    expect(await commit(store, { outbox: [] })).toEqual(stored);
    expect(await commit(open(), {}, { status: "cancelled" })).toEqual([undefined, undefined]);
  });

  it("are not needed where a deadline has passed: those that are held are not in the way, and an index that lags neither", async () => {
    const { store, open, document, clock } = await opened("past");
    const long = { leaseMs: 1_000_000 };
    await fill(store, ["holder"]);
    expect(await claimed(store, long)).toEqual(["holder"]);
    const ids = (name: string): string[] => Array.from({ length: 40 }, (_, index) => `${name}${String(index).padStart(2, "0")}`);
    const create = async (id: string, deadlineAt: number): Promise<Commit> => {
      const commit = permitted(id, "x", 1, { deadlineAt });
      clock.now++;
      await store.create(commit);
      return commit;
    };
    for (const id of ids("held")) await create(id, 1);
    for (const id of ids("early")) await create(id, clock.now + 1_000_000);
    await create("second", 3);
    const first = await create("first", 2);
    expect(await claimed(store, { ...long, limit: 30 })).toEqual(ids("held").slice(0, 30));
    expect(await claimed(store, { ...long, limit: 10 })).toEqual(ids("held").slice(30));
    const then = new Map<string, ReturnType<DynamoDocumentClient["query"]>>();
    const lagging = open({
      query(input) {
        if (input.IndexName !== "exempt") return document.query(input);
        const { ExpressionAttributeValues: _, ...asked } = input;
        const key = JSON.stringify([asked, input.ExpressionAttributeValues[":from"]]);
        if (!then.has(key)) then.set(key, document.query(input));
        return then.get(key)!;
      },
    });
    await claimed(lagging, { overdueMs: 900_000 });
    await store.commit(stepCommit(first, { status: "cancelled" }));
    expect(await claimed(lagging, { ...long, limit: 1 })).toEqual(["second"]);
    expect(await claimed(lagging, { ...long, limit: 1 })).toEqual([]);
    expect(await claimed(store)).toEqual([]);
  });

  it("records of keys that nobody uses any longer are pruned, those of others stay", async () => {
    const { store, row } = await opened("pruned");
    await fill(store, ["a"], "x");
    await fill(store, ["b"], "y");
    for (const { claim, snapshot } of await claimAndLoad(store, { ...lease, limit: 2 })) {
      if (snapshot.workflowId === "a") await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
    }
    await store.prune({ before: 0 });
    expect((await row("x"))?.holders).toEqual(["a"]);
    await store.prune({ before: Number.MAX_SAFE_INTEGER });
    expect(await row("x")).toBeUndefined();
    expect((await row("y"))?.holders).toEqual(["b"]);
  });
});
