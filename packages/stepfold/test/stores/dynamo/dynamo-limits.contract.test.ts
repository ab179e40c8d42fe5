import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { Json } from "../../../src/core/values/json.ts";
import { DynamoKeys } from "../../../src/stores/databases/dynamo/dynamo-keys.ts";
import { dynamoRecords } from "../../../src/stores/databases/dynamo/dynamo-records.ts";
import { dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { gone, put } from "../../../src/testing/contract/children/children.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { methodsOf, rowsIn, rowsOfPartition, useTable } from "./dynamo-bench.fixture.ts";

const url = await serviceUrlOrSkip("dynamodb");
const local = useTable(url);

describe.skipIf(url === null)("what DynamoDB can hold", () => {
  it("a map of 10,000 items begins in one commit, and each of them changes alone", { timeout: 60_000 }, async () => {
    const { client, table } = await local();
    const sent: number[] = [];
    const document = DynamoDBDocument.from(client);
    const counting = methodsOf(document);
    counting.transactWrite = (input) => {
      sent.push(input.TransactItems.length);
      return document.transactWrite(input);
    };
    counting.batchWrite = (input) => {
      sent.push(...Object.values(input.RequestItems).map((actions) => actions.length));
      return document.batchWrite(input);
    };
    const store = dynamoStore(counting, { table, prefix: "map" });
    const first = startCommit("a");
    const children = Array.from({ length: 10_000 }, (_, index) => put(`0#1/${index}`, { input: { index, text: "ä".repeat(100) } }));
    const second = stepCommit(first, { children });
    const third = stepCommit(second, { children: [put("0#1/5000", { version: 2 }), gone("0#1/9999")] });
    await store.create(first);
    await store.commit(second);
    sent.length = 0;
    await store.commit(third);
    expect(sent).toEqual([3]);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second, third));
  });

  it("a step at 2,000 events writes a head and a row, as the first one does", { timeout: 60_000 }, async () => {
    const { client, table } = await local();
    const document = DynamoDBDocument.from(client);
    const calls: string[] = [];
    const counting = new Proxy(methodsOf(document), {
      get(methods, name) {
        calls.push(String(name));
        return methods[name as keyof typeof methods];
      },
    });
    const store = dynamoStore(counting, { table, prefix: "long" });
    const first = startCommit("a");
    await store.create(first, { claim: { owner: "w", leaseMs: 60_000 } });
    let last = stepCommit(first, { fence: 1, output: "x".repeat(100) });
    const many = Array.from({ length: 500 }, (_, index) => index);
    for (const outputs of [[1], many, many, many, many, ["x".repeat(100)], [1]]) {
      calls.length = 0;
      await store.commit(last);
      expect(calls).toEqual(["transactWrite"]);
      last = stepCommit(last, { fence: 1, outputs });
    }
    expect((await store.load("a"))?.version).toBe(2_003);
  });

  it("events, heads, children, metadata and definitions of 2 MiB come back to the byte, and leave nothing behind", {
    timeout: 60_000,
  }, async () => {
    const { client, table } = await local();
    const prefix = "large";
    let now = 1_000_000;
    const store = dynamoStore(DynamoDBDocument.from(client), { table, prefix, now: () => now, idempotencyRetentionMs: 1_000 });
    const text = '😀ä\u0000"'.repeat(200_000);
    const inbox = (payload: Json) => ({ inbox: [{ name: "go", key: "k", payload, expiresAt: 9 }] });
    const first = startCommit("a", {
      input: text,
      metadata: { text, customer: "ann" },
      children: [put("x", { input: text })],
      head: inbox(text),
    });
    const second = stepCommit(first, { output: text, head: inbox(`${text}!`) });
    const third = stepCommit(second, { output: 1 });
    const { inbox: _, ...head } = third.head;
    const fourth = { ...third, head: { ...head, status: "completed" as const, activePaths: [], currentNodeId: null } };
    await store.create(first);
    expect(await store.load("a")).toEqual(snapshotAfter(first));
    await store.commit(second);
    const [claimed] = await claimAndLoad(store, { owner: "w", leaseMs: 1000, limit: 1 });
    expect(claimed?.snapshot).toEqual(snapshotAfter(first, second));
    expect((await store.events("a", 0, 1))[0]?.event).toEqual(second.events[0]);
    expect((await store.list({ metadata: { text } })).items).toMatchObject([{ metadata: { text }, currentNodeId: "step" }]);
    expect((await store.list({ metadata: { customer: "ann" } })).items).toHaveLength(1);
    const before = (await rowsIn({ client, table, url: url! }, prefix, "a")).length;
    await store.commit(fourth);
    const after = (await rowsIn({ client, table, url: url! }, prefix, "a")).length;
    expect(after).toBeLessThan(before);
    expect(await store.load("a")).toEqual(snapshotAfter(first, second, fourth));
    await store.delete("a");
    expect(await rowsIn({ client, table, url: url! }, prefix, "a")).toEqual(["head"]);
    now += 1_001;
    await store.prune({ before: 0 });
    expect(await rowsIn({ client, table, url: url! }, prefix, "a")).toEqual([]);
  });

  it("a commit that is refused leaves no parts of what it would have written", async () => {
    const { client, table } = await local();
    const store = dynamoStore(DynamoDBDocument.from(client), { table, prefix: "refused" });
    const first = startCommit("a");
    await store.create(first);
    const text = "x".repeat(500_000);
    const commits = [1, 2, 3].map((n) => stepCommit(first, { output: `${n}${text}`, children: [put("x", { input: text })] }));
    await Promise.allSettled(commits.map((commit) => store.commit(commit)));
    await expect(store.create(startCommit("a", { input: text }))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
    const parts = (await rowsIn({ client, table, url: url! }, "refused", "a")).filter((row) => row.startsWith("p#"));
    expect(parts).toHaveLength(4);
    expect(await store.load("a")).toEqual(snapshotAfter(first, commits[0]!));
  });

  it("a record of 2 MiB that is replaced or deleted leaves no parts behind, and readers find the old one or the new one", {
    timeout: 60_000,
  }, async () => {
    const { client, table } = await local();
    const document = DynamoDBDocument.from(client);
    const keys = new DynamoKeys("records", 1);
    const records = dynamoRecords({ client: document, table, keys, retentionMs: 1, known: new Map(), now: Date.now, nextSeq: () => 0 });
    const partition = "records.permit#k";
    const textOf = (revision: number): string => String(revision).repeat(revision % 3 === 0 ? 10 : 2_000_000);
    const put = async (before: number | null, after: number | null): Promise<boolean> => {
      const next = after === null ? null : { revision: `${after}`, text: textOf(after) };
      return (await records.put("permit", [{ key: "k", expected: before === null ? null : `${before}`, next }]))[0]!;
    };
    const rows = async () => (await rowsOfPartition({ client, table, url: url! }, partition)).length;
    for (const [before, after, expected] of [
      [null, 1, 7],
      [1, 2, 7],
      [2, 3, 1],
      [3, 4, 7],
      [4, null, 0],
      [null, 5, 7],
    ] as const) {
      expect(await put(before, after)).toBe(true);
      expect(await put(before, 8)).toBe(false);
      expect(await rows(), `${before} to ${after}`).toBe(expected);
    }
    const reading = Array.from({ length: 20 }, async () => {
      const { revision, text } = (await records.get("permit", ["k"])).get("k")!;
      expect(text === textOf(Number(revision))).toBe(true);
    });
    for (const before of [5, 6, 7, 8]) expect(await put(before, before + 1)).toBe(true);
    await Promise.all(reading);
  });

  it("an id of 255 characters of four bytes is one, one above 2,000 bytes is refused before anything is written", async () => {
    const { client, table } = await local();
    const store = dynamoStore(DynamoDBDocument.from(client), { table, prefix: "ids" });
    const ids = ["😀".repeat(255), `${"😀".repeat(254)}😁`, "x#y", "x", "x ", "X", "head", "", "a\u0000", "a"];
    for (const id of ids) await store.create(startCommit(id, { input: id }));
    for (const id of ids) expect((await store.load(id))?.input).toBe(id);
    expect((await store.list()).items.map(({ workflowId }) => workflowId)).toEqual([...ids].reverse());
    await expect(store.create(startCommit("😀".repeat(600)))).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { limit: "dynamo key in bytes", max: 2048 },
    });
  });

  it.each([
    ["convertEmptyValues and removeUndefinedValues", { marshallOptions: { convertEmptyValues: true, removeUndefinedValues: true } }],
    ["wrapNumbers", { unmarshallOptions: { wrapNumbers: true } }],
    ["convertClassInstanceToMap", { marshallOptions: { convertClassInstanceToMap: true, convertTopLevelContainer: true } }],
  ])("a client with %s makes no difference", async (name, options) => {
    const { client, table } = await local();
    const prefix = name.slice(0, 8);
    const store = dynamoStore(DynamoDBDocument.from(client, options), { table, prefix });
    const first = startCommit("", { input: "", metadata: { "": "", n: 0 }, definitionId: "", incarnation: "", commitId: "" });
    const claim = await store.create(first, { claim: { owner: "", leaseMs: 60_000 } });
    expect(claim).toMatchObject({ owner: "", incarnation: "", fence: 1 });
    await store.create(first, { claim: { owner: "", leaseMs: 60_000 } });
    await store.renew(claim!);
    const second = stepCommit(first, { output: "", fence: 1, children: [put(" ", { input: "" })], status: "paused" });
    await store.commit(second);
    await store.commit(second);
    expect(await store.load("")).toEqual(snapshotAfter(first, second));
    expect((await store.list({ metadata: { "": "", n: 0 }, definitionId: "", status: ["paused"] })).items).toMatchObject([{ version: 1 }]);
    await store.release(claim!, 1);
    await store.commit(stepCommit(second, { status: "failed" }));
    expect(await store.prune({ before: Number.MAX_SAFE_INTEGER, definitionId: "" })).toMatchObject({ executions: 1, events: 3 });
  });
});
