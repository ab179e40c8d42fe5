import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import type { DynamoDocumentClient } from "../../../src/stores/databases/dynamo/dynamo-client.ts";
import { dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import { put } from "../../../src/testing/contract/children/children.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { oneOfEightWins } from "../rival-commits.fixture.ts";
import { cuttableWay } from "./cuttable-way.fixture.ts";
import { localClient, methodsOf, rowsIn, useTable } from "./dynamo-bench.fixture.ts";

const url = await serviceUrlOrSkip("dynamodb");
const local = useTable(url);
const ways: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(ways.map((way) => way.close())));

describe.skipIf(url === null)("several writers of one DynamoDB table", () => {
  it("of 8 commits on one version exactly one wins, 200 times", async () => {
    const { client, table } = await local();
    const open = () => dynamoStore(DynamoDBDocument.from(client), { table, prefix: "eight" });
    await oneOfEightWins([open(), open()]);
  });

  it("whoever loads sees one version, while children change as fast as they can, are folded and are deleted", {
    timeout: 60_000,
  }, async () => {
    const { client, table } = await local();
    let now = 1_000_000;
    const open = () => dynamoStore(DynamoDBDocument.from(client), { table, prefix: "fast", now: () => now });
    const [writer, reader] = [open(), open()];
    const text = "x".repeat(2_000);
    const keys = Array.from({ length: 20 }, (_, index) => `0#1/${index}`);
    const childrenAt = (version: number) => keys.map((key) => put(key, { version, input: text }));
    let last = startCommit("a", { children: childrenAt(0) });
    await writer.create(last);
    let isOver = false;
    const write = async (): Promise<void> => {
      for (let version = 1; version <= 120; version++) {
        last = stepCommit(last, { children: childrenAt(version), status: version === 120 ? "completed" : "active" });
        await writer.commit(last);
        now += 1_000;
        // the claim folds the rows of children into one
        if (version % 30 === 0) await writer.claim({ owner: "w", leaseMs: 10, limit: 1, workflowId: "a" });
      }
      isOver = true;
    };
    let reads = 0;
    const read = async (): Promise<void> => {
      for (; !isOver; reads++) {
        const { version, childStates = {} } = (await reader.load("a"))!;
        expect(Object.values(childStates).map((child) => child.version)).toEqual(keys.map(() => version));
        expect(Object.keys(childStates)).toEqual(keys);
      }
    };
    await Promise.all([write(), read(), read()]);
    expect(reads).toBeGreaterThan(5);
    expect(await reader.load("a")).toEqual(JSON.parse(JSON.stringify(await writer.load("a"))));
    const rows = await rowsIn({ client, table, url: url! }, "fast", "a");
    expect(rows.filter((row) => row.startsWith("c#")).length).toBeLessThan(100);
    const deleted = writer.delete("a");
    for (let snapshot = await reader.load("a"); snapshot; snapshot = await reader.load("a")) expect(snapshot.version).toBe(120);
    await deleted;
  });

  it("a commit whose answer is lost is STORE_UNAVAILABLE, was applied, and is acknowledged when it is sent again", async () => {
    const { client, table } = await local();
    const way = await cuttableWay(url!);
    ways.push(way);
    const own = localClient(way.url, 1);
    const store = dynamoStore(DynamoDBDocument.from(own), { table, prefix: "lost" });
    const first = startCommit("a", { children: [put("x", { input: "y".repeat(400_000) })] });
    const lease = { claim: { owner: "w", leaseMs: 60_000 } };
    way.cutNextAnswer();
    await expect(store.create(startCommit("before"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.load("warm");
    await expect(store.create(first, lease)).resolves.toMatchObject({ fence: 1 });
    const second = stepCommit(first, { output: 1, fence: 1 });
    way.cutNextAnswer();
    await expect(store.commit(second)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    const other = dynamoStore(DynamoDBDocument.from(client), { table, prefix: "lost" });
    expect((await other.load("a"))?.version).toBe(1);
    await store.commit(second);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    expect(await store.create(first, lease)).toMatchObject({ owner: "w", fence: 1 });
    await store.close();
    own.destroy();
  });

  it("what is sent again after it was applied, beyond what DynamoDB recognises, is acknowledged and stays whole", async () => {
    const { client, table } = await local();
    const document = DynamoDBDocument.from(client);
    const twice = <I, O>(send: (input: I) => Promise<O>): ((input: I) => Promise<O>) => {
      return async (input) => {
        await send(input);
        return send(input);
      };
    };
    const insisting: DynamoDocumentClient = {
      ...methodsOf(document),
      put: twice((input) => document.put(input)),
      transactWrite: twice((input) => document.transactWrite(input)),
    };
    const store = dynamoStore(insisting, { table, prefix: "again" });
    const text = "y".repeat(600_000);
    const first = startCommit("a", { input: text, children: [put("x", { input: text })], metadata: { text } });
    const second = stepCommit(first, { output: text, head: { inbox: [{ name: "n", key: "k", payload: text, expiresAt: 1 }] } });
    const third = stepCommit(second, { status: "completed" });
    expect(await store.create(first, { claim: { owner: "w", leaseMs: 60_000 } })).toMatchObject({ fence: 1 });
    await store.commit(second);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second));
    await store.commit(third);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second, third));
    expect((await store.list()).items.map(({ metadata }) => metadata)).toEqual([{ text }]);
    await store.putDefinition("h", { id: text, nodes: [], edges: [] });
    expect(await store.getDefinition("h")).toEqual({ id: text, nodes: [], edges: [] });
    await store.delete("a");
    expect(await store.load("a")).toBeNull();
  });

  it("what the index shows too late is not claimed twice, and nobody waits for it", async () => {
    const { client, table } = await local();
    const document = DynamoDBDocument.from(client);
    const options = { table, prefix: "stale" };
    const store = dynamoStore(document, options);
    const commits: Commit[] = ["a", "b", "c"].map((id) => startCommit(id));
    for (const commit of commits) await store.create(commit);
    const shown = new Map<string, Awaited<ReturnType<DynamoDocumentClient["query"]>>>();
    const late: DynamoDocumentClient = {
      ...methodsOf(document),
      async query(input) {
        const key = JSON.stringify([
          input.ExpressionAttributeValues[":partition"],
          input.ExpressionAttributeValues[":from"],
          input.ExclusiveStartKey,
        ]);
        const answer = input.IndexName ? shown.get(key) : undefined;
        if (answer) return answer;
        const fresh = await document.query(input);
        if (input.IndexName) shown.set(key, fresh);
        return fresh;
      },
    };
    const behind = dynamoStore(late, options);
    const claim = { owner: "w", leaseMs: 60_000, limit: 10 };
    expect((await behind.claim(claim)).map(({ workflowId }) => workflowId)).toEqual(["a", "b", "c"]);
    expect(await behind.claim(claim)).toEqual([]);
    await store.create(startCommit("d"));
    expect((await store.claim(claim)).map(({ workflowId }) => workflowId)).toEqual(["d"]);
  });
});
