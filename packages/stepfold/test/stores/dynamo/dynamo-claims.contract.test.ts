import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { methodsOf, useTable } from "./dynamo-bench.fixture.ts";

const url = await serviceUrlOrSkip("dynamodb");
const local = useTable(url);
const lease = { owner: "worker", leaseMs: 1_000 };

/** A store whose clock is given, and what turns an execution in it into one as older versions have written it. */
async function opened(prefix: string) {
  const { client, table } = await local();
  const document = DynamoDBDocument.from(client);
  const clock = { now: 1_000_000 };
  const calls: string[] = [];
  const counting = new Proxy(methodsOf(document), {
    get(methods, name) {
      calls.push(String(name));
      return methods[name as keyof typeof methods];
    },
  });
  const age = async (id: string): Promise<void> => {
    const key = { TableName: table, Key: { pk: `${prefix}.x#${id}`, sk: "head" } };
    const { Item: head } = await document.get({ ...key, ConsistentRead: true });
    const { nextCrashes: _, ...older } = head!;
    const turn = head!.owner === undefined ? `0000000000000000.${head!.made}` : head!.turn;
    await document.put({ TableName: table, Item: { ...older, turn } });
  };
  return { store: dynamoStore(counting, { table, prefix, now: () => clock.now }), clock, calls, age };
}

describe.skipIf(url === null)("what older versions have written to DynamoDB", () => {
  it("counts as never crashed, and is counted from then on", async () => {
    const { store, clock, age } = await opened("older");
    const first = startCommit("a");
    const claim = await store.create(first, { claim: lease });
    await age("a");
    expect((await store.list()).items.map((item) => item.lease)).toEqual([{ owner: "worker", until: 1_001_000, crashes: 0 }]);
    await store.release(claim!, 0);
    expect((await store.claim({ ...lease, limit: 1 }))[0]?.claim).toMatchObject({ fence: 2, crashes: 0 });
    clock.now += 1_001;
    expect((await store.claim({ ...lease, limit: 1 }))[0]?.claim).toMatchObject({ fence: 3, crashes: 1 });
    await store.commit(stepCommit(first, { fence: 3 }));
    clock.now += 1_001;
    expect((await store.claim({ ...lease, limit: 1 }))[0]?.claim).toMatchObject({ fence: 4, crashes: 1 });
  });

  it("is due, and overdue if it is old, if it was due at once", async () => {
    const { store, clock, age } = await opened("old");
    const ids = async (options: { readonly overdueMs?: number; readonly workflowId?: string }): Promise<string[]> =>
      (await store.claim({ ...lease, limit: 10, ...options })).map(({ claim }) => claim.workflowId);
    for (const id of ["a", "b"]) {
      await store.create(startCommit(id));
      await age(id);
    }
    clock.now += 60_000;
    await store.create(startCommit("c"));
    expect(await ids({ overdueMs: 60_000, workflowId: "b" })).toEqual(["b"]);
    expect(await ids({ overdueMs: 60_000 })).toEqual(["a"]);
    expect(await ids({})).toEqual(["c"]);
  });
});

describe.skipIf(url === null)("a claim in DynamoDB", () => {
  it("of one whose holder was lost takes as many calls as any other", async () => {
    const { store, clock, calls } = await opened("lost");
    await store.create(startCommit("a"));
    const made: (readonly string[])[] = [];
    // asks, once in five seconds, whether there are any with a key
    await store.claim({ ...lease, limit: 2, overdueMs: 60_000 });
    for (const workflowId of ["a", "a", undefined, undefined]) {
      calls.length = 0;
      // with room for more none is owed anything the next time
      await store.claim({ ...lease, limit: 2, ...(workflowId && { workflowId }) });
      made.push([...calls]);
      clock.now += 1_001;
    }
    expect(made[1]).toEqual(made[0]);
    expect(made[0]).toEqual(["update", "query"]);
    expect(made[3]).toEqual(made[2]);
    expect((await store.list()).items.map((item) => item.lease?.crashes)).toEqual([3]);
  });

  it("of what is overdue neither takes nor writes what has just become due", async () => {
    const { store, clock, calls } = await opened("fresh");
    await store.create(startCommit("old"));
    await store.create(startCommit("timer", { status: "paused", wakeAt: clock.now + 1_000 }));
    clock.now += 62_000;
    for (let index = 0; index < 40; index++) await store.create(startCommit(`id-${index}`));
    calls.length = 0;
    const claimed = await store.claim({ ...lease, limit: 50, overdueMs: 60_000 });
    expect(claimed.map(({ claim }) => claim.workflowId)).toEqual(["old", "timer"]);
    expect(calls.filter((name) => name === "update")).toHaveLength(2);
  });
});
