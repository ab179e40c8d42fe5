import { MongoClient } from "mongodb";
import { afterAll, beforeAll } from "vitest";
import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import { mongoStore } from "../../../src/stores/databases/mongo/index.ts";
import type { StoreBench } from "../../../src/testing/index.ts";
import { contractOf, wait } from "../../testing/store-contract.fixture.ts";
import { cuttableProxy } from "../cuttable-proxy.fixture.ts";
import { mongoProcess } from "./mongo-process.fixture.ts";

let standIn: Awaited<ReturnType<typeof mongoProcess>>;
let client: MongoClient;
const opened: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  standIn = await mongoProcess();
  client = new MongoClient(standIn.url);
});
afterAll(async () => {
  for (const one of opened.reverse()) await one.close();
  await client.close();
  await standIn.close();
});

/** A bench on a new database. */
function mongoBench(through: MongoClient, index: number): StoreBench {
  const db = through.db(`stepfold_contract_${process.pid}_${index}`);
  opened.push({ close: () => db.dropDatabase() });
  const open = () => mongoStore(db, { migrate: true, idempotencyRetentionMs: 1000 });
  const damage = async (workflowId: string): Promise<void> => {
    await db.collection<{ _id: string }>("stepfold_executions").updateOne({ _id: workflowId }, { $set: { head: "{" } });
  };
  return { store: open(), retentionMs: 1000, open: async () => open(), advance: wait, damage };
}

/** A bench on the stand-in, with its own client behind a proxy whose connections can be cut. */
async function standInBench(index: number): Promise<StoreBench> {
  const proxy = await cuttableProxy(standIn.url);
  const own = new MongoClient(proxy.url);
  opened.push(proxy, own);
  return { ...mongoBench(own, index), cut: async () => proxy.cut() };
}

const url = await serviceUrl("mongodb");
const real = url === null ? null : new MongoClient(url);
if (real) afterAll(() => real.close());

contractOf("mongodb", { over: "the stand-in for a single mongod", atOnce: 8, bench: standInBench });
if (real) contractOf("mongodb", { over: "a real server", atOnce: 8, bench: async (index) => mongoBench(real, index) });
