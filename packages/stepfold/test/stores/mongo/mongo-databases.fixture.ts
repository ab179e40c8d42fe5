import { randomUUID } from "node:crypto";
import { type Db, MongoClient } from "mongodb";
import { afterAll, beforeAll } from "vitest";
import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import { mongoProcess } from "./mongo-process.fixture.ts";

/** Makes databases for the tests of one file. */
export interface MongoDatabases {
  /** The URL of the server. It is known when the first test begins. */
  readonly url: () => string;
  /** Makes a new database, which is dropped after the tests. */
  readonly add: () => Db;
}

/** Makes databases on the server at STEPFOLD_MONGODB_URL, or on a stand-in for a single mongod. */
export async function mongoDatabases(): Promise<MongoDatabases> {
  const real = await serviceUrl("mongodb");
  let close: () => Promise<void>;
  let client: MongoClient;
  let url: string;
  const databases: Db[] = [];
  beforeAll(async () => {
    const server = real === null ? await mongoProcess() : { url: real, close: async () => {} };
    url = server.url;
    client = await MongoClient.connect(url);
    close = server.close;
  });
  afterAll(async () => {
    for (const db of databases) await db.dropDatabase();
    await client.close();
    await close();
  });
  const add = (): Db => {
    const db = client.db(`stepfold_${randomUUID().slice(0, 8)}`);
    databases.push(db);
    return db;
  };
  return { url: () => url, add };
}
