import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { put } from "../../../src/testing/contract/children/children.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { type LocalTable, localClient, methodsOf, rowsIn, useTable } from "./dynamo-bench.fixture.ts";

const url = await serviceUrlOrSkip("dynamodb");
const local = useTable(url);

/** Changes an attribute of a head directly in the table; undefined removes the attribute. */
async function spoil({ client, table }: LocalTable, pk: string, attribute: string, value?: unknown): Promise<void> {
  const isGone = value === undefined;
  await DynamoDBDocument.from(client).update({
    TableName: table,
    Key: { pk, sk: "head" },
    UpdateExpression: isGone ? "REMOVE #name" : "SET #name = :value",
    ExpressionAttributeNames: { "#name": attribute },
    ...(!isGone && { ExpressionAttributeValues: { ":value": value } }),
  });
}

describe.skipIf(url === null)("a bad day of DynamoDB", () => {
  it("a server that is not there is STORE_UNAVAILABLE, a table that is missing is STORE_REJECTED and says what to do", async () => {
    const away = localClient("http://127.0.0.1:9", 1);
    const nobody = dynamoStore(DynamoDBDocument.from(away), { table: "t" });
    await expect(nobody.load("a")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect(nobody.commit(stepCommit(startCommit("a")))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const { client } = await local();
    const store = dynamoStore(DynamoDBDocument.from(client), { table: "not_there" });
    const expected = { code: "STORE_REJECTED", details: { reason: expect.stringContaining('createDynamoTable(client, "not_there")') } };
    await expect(store.load("a")).rejects.toMatchObject(expected);
    await expect(store.create(startCommit("a"))).rejects.toMatchObject(expected);
    await expect(store.list()).rejects.toMatchObject(expected);
    away.destroy();
  });

  it("conflicts and throttling are tried again, then they are STORE_UNAVAILABLE", async () => {
    const { client, table } = await local();
    const document = DynamoDBDocument.from(client);
    let failures = 3;
    const busy = methodsOf(document);
    busy.transactWrite = (input) => {
      if (failures-- <= 0) return document.transactWrite(input);
      const reasons = { CancellationReasons: [{ Code: "TransactionConflict" }, { Code: "None" }] };
      return Promise.reject(Object.assign(new Error("busy"), { name: "TransactionCanceledException", ...reasons }));
    };
    const store = dynamoStore(busy, { table, prefix: "busy" });
    await store.create(startCommit("a"));
    failures = 1_000;
    await expect(store.create(startCommit("b"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await store.load("b")).toBeNull();
  });

  it("what a batch leaves undone is sent again", async () => {
    const { client, table } = await local();
    const document = DynamoDBDocument.from(client);
    const partial = methodsOf(document);
    partial.batchWrite = async (input) => {
      const [first, ...rest] = input.RequestItems[table]!;
      await document.batchWrite({ RequestItems: { [table]: [first!] } });
      return rest.length > 0 ? { UnprocessedItems: { [table]: rest } } : {};
    };
    partial.batchGet = async (input) => {
      const [first, ...rest] = input.RequestItems[table]!.Keys;
      const { Responses } = await document.batchGet({ RequestItems: { [table]: { Keys: [first!], ConsistentRead: true } } });
      return { Responses, ...(rest.length > 0 && { UnprocessedKeys: { [table]: { Keys: rest } } }) };
    };
    const store = dynamoStore(partial, { table, prefix: "partial" });
    const first = startCommit("a", { input: "x".repeat(1_500_000) });
    await store.create(first);
    for (const id of ["b", "c", "d"]) await store.create(startCommit(id));
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    expect((await store.list()).items.map(({ workflowId }) => workflowId)).toEqual(["d", "c", "b", "a"]);
  });

  it("rows of a transaction that are seen later than its head are waited for", async () => {
    const { client, table } = await local();
    const document = DynamoDBDocument.from(client);
    let hidden: "c#" | "e#" | null = null;
    const behind = methodsOf(document);
    behind.query = async (input) => {
      const answer = await document.query(input);
      const isHidden = hidden !== null && String(input.ExpressionAttributeValues[":from"]).startsWith(hidden);
      if (!isHidden || !answer.Items?.length) return answer;
      hidden = null;
      return { ...answer, Items: answer.Items.slice(0, -1) };
    };
    const store = dynamoStore(behind, { table, prefix: "behind" });
    const first = startCommit("a", { children: [put("x"), put("y")] });
    const second = stepCommit(first, { outputs: [1, 2], children: [put("x", { version: 1 })] });
    await store.create(first);
    await store.commit(second);
    for (hidden of ["e#", "c#"] as const) {
      expect(await store.load("a")).toEqual(snapshotAfter(first, second));
      expect(hidden).toBeNull();
    }
    hidden = "e#";
    expect((await store.events("a", -1, 10)).map(({ version }) => version)).toEqual([0, 1, 2]);
    hidden = "e#";
    const third = stepCommit(second);
    await dynamoStore(document, { table, prefix: "behind" }).commit(third);
    await store.commit(second);
    expect(hidden).toBeNull();
    hidden = "c#";
    const [claimed] = await claimAndLoad(store, { owner: "w", leaseMs: 1_000, limit: 1 });
    expect(claimed?.snapshot).toEqual(snapshotAfter(first, second, third));
  });

  it("a delete that ends halfway leaves nothing to be seen, and what is left goes when the id is free again", async () => {
    const { client, table } = await local();
    const document = DynamoDBDocument.from(client);
    let now = 1_000_000;
    const options = { table, prefix: "half", now: () => now, idempotencyRetentionMs: 1_000 };
    const dying = methodsOf(document);
    dying.batchWrite = () => Promise.reject(Object.assign(new Error("gone"), { name: "TimeoutError" }));
    const store = dynamoStore(document, options);
    const first = startCommit("a", { children: [put("x")], input: "old" });
    const left = async (): Promise<string[]> => rowsIn({ client, table, url: url! }, "half", "a");
    for (const id of ["a", "b"]) {
      await store.create({ ...startCommit(id, { children: [put("x")] }), ...(id === "a" && first) });
      await store.commit(stepCommit((await store.load(id))!, { status: "completed", outputs: [1, 2] }));
    }
    await dynamoStore(dying, options).delete("a");
    expect(await left()).toHaveLength(4);
    expect(await store.load("a")).toBeNull();
    expect(await store.events("a", -1, 10)).toEqual([]);
    expect((await store.list()).items.map(({ workflowId }) => workflowId)).toEqual(["b"]);
    await expect(store.delete("a")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    await expect(store.create(startCommit("a"))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS", details: { deletedAt: now } });
    now += 1_001;
    const again = startCommit("a", { input: "new" });
    await store.create(again);
    expect(await store.load("a")).toEqual(snapshotAfter(again));
    expect(await left()).toHaveLength(2);

    await dynamoStore(dying, options).prune({ before: Number.MAX_SAFE_INTEGER });
    expect(await rowsIn({ client, table, url: url! }, "half", "b")).toHaveLength(4);
    now += 1_001;
    await store.prune({ before: 0 });
    expect(await rowsIn({ client, table, url: url! }, "half", "b")).toEqual([]);
  });

  it("a head or a row that somebody has changed is refused, and in nobody's way", async () => {
    const own = await local();
    const { client, table } = own;
    let now = 1_000_000;
    const store = dynamoStore(DynamoDBDocument.from(client), { table, prefix: "bad", now: () => now });
    const ids = ["status", "version", "fence", "made", "row", "whole"];
    for (const id of ids) await store.create(startCommit(id));
    await spoil(own, "bad.x#status", "status", "odd");
    await spoil(own, "bad.x#version", "version");
    await spoil(own, "bad.x#fence", "fence", "text");
    await spoil(own, "bad.x#made", "incarnation", 7);
    const [row] = (await rowsIn(own, "bad", "row")).filter((key) => key.startsWith("e#"));
    await DynamoDBDocument.from(client).delete({ TableName: table, Key: { pk: "bad.x#row", sk: row } });
    for (const id of ids.slice(0, -1)) await expect(store.load(id)).rejects.toMatchObject({ code: "STORE_REJECTED" });
    for (const limit of [1, 10]) {
      const claimed = await store.claim({ owner: "w", leaseMs: 1_000, limit });
      expect(claimed.map(({ workflowId }) => workflowId)).toEqual(limit === 1 ? ["row"] : ["whole"]);
    }
    expect((await store.list({ limit: 1 })).items.map(({ workflowId }) => workflowId)).toEqual(["whole"]);
    now += 10_000;
    expect(await store.prune({ before: now })).toMatchObject({ executions: 0, events: 0 });
  });

  it("what an older version has written is refused, and the error says so", async () => {
    const own = await local();
    const store = dynamoStore(DynamoDBDocument.from(own.client), { table: own.table, prefix: "older" });
    await store.create(startCommit("a"));
    await spoil(own, "older.x#a", "layout", 1);
    const refusal = { code: "STORE_REJECTED", message: expect.stringContaining("older version") };
    await expect(store.load("a")).rejects.toMatchObject(refusal);
    await expect(store.commit(stepCommit(startCommit("a")))).rejects.toMatchObject(refusal);
  });

  it("more shards find what was written with fewer", async () => {
    const { client, table } = await local();
    const open = (shards: number): SnapshotStore => dynamoStore(DynamoDBDocument.from(client), { table, prefix: "shards", shards });
    const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);
    for (const id of ids.slice(0, 10)) await open(1).create(startCommit(id));
    const store = open(7);
    for (const id of ids.slice(10)) await store.create(startCommit(id));
    expect((await store.list()).items.map(({ workflowId }) => workflowId).sort()).toEqual([...ids].sort());
    const claimed = await claimAndLoad(store, { owner: "w", leaseMs: 60_000, limit: 100 });
    expect(claimed.map(({ claim }) => claim.workflowId).sort()).toEqual([...ids].sort());
    for (const { snapshot, claim } of claimed) await store.commit(stepCommit(snapshot, { status: "completed", fence: claim.fence }));
    expect(await store.prune({ before: Number.MAX_SAFE_INTEGER })).toMatchObject({ executions: 20, events: 40 });
  });
});
