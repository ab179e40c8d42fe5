import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SnapshotStore } from "stepfold";
import { hranaServer } from "../scripts/servers/hrana-server.ts";
import { mongoServer } from "../scripts/servers/mongo-server.ts";
import { upstashServer } from "../scripts/servers/upstash-server.ts";
import { type Counted, counted, countedStatements } from "./counted.ts";
import { databaseFolder } from "./database.ts";
import type { Library } from "./library.ts";
import { circle, circling } from "./line.ts";
import { serverUrl } from "./peer.ts";

/** Steps of the loop. */
export const loopTimes = 5_000;
const output = { text: "x".repeat(89) }; // 100 bytes of JSON

/** A store in a place of its own, on a client whose bytes are counted. */
export interface Opened {
  readonly store: SnapshotStore;
  /** Handed to the client so far. */
  readonly bytes: () => number;
  /** Closes the client, and removes what the store has written. */
  readonly close: () => Promise<void>;
}

// as long as the default name: keys count
const space = `b_${randomUUID().slice(0, 6)}`;

/** On a new file. What it counts is what all of this process hands to SQLite. */
async function sqlite(library: Library): Promise<Opened> {
  const { sqliteStore } = await library("./stores/sqlite");
  const folder = mkdtempSync(join(databaseFolder(), "counted-"));
  const close = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  return { store: sqliteStore(join(folder, "bench.db")), bytes: countedStatements(), close };
}

async function postgres(library: Library): Promise<Opened> {
  const { default: pg } = await import("pg");
  const { postgresStore } = await library("./stores/postgres");
  const pool = new pg.Pool({ connectionString: await serverUrl("postgres"), max: 20 });
  const { client, bytes } = counted(pool, (method, [query, values]) => {
    if (method !== "query") return null;
    return typeof query === "object" ? (query as { values: unknown }).values : values;
  });
  const close = async (): Promise<void> => {
    await pool.query(`DROP SCHEMA IF EXISTS "${space}" CASCADE`);
    await pool.end();
  };
  return { store: postgresStore(client, { schema: space, migrate: true }), bytes, close };
}

async function mysql(library: Library): Promise<Opened> {
  const { createPool } = await import("mysql2/promise");
  const { mysqlStore } = await library("./stores/mysql");
  const { siteFromUrl } = await library("./stores/from-url");
  const url = await serverUrl("mariadb");
  const pool = createPool(url);
  const { client, bytes } = counted(pool, (method, [statement]) =>
    method === "execute" ? (statement as { values: unknown }).values : null,
  );
  const close = async (): Promise<void> => {
    await pool.end();
    const site = await siteFromUrl(url);
    await site.drop(`${space}_`);
    await site.close();
  };
  return { store: mysqlStore(client, { prefix: `${space}_`, migrate: true }), bytes, close };
}

async function redis(library: Library): Promise<Opened> {
  const { Redis } = await import("ioredis");
  const { redisStore } = await library("./stores/redis");
  const { siteFromUrl } = await library("./stores/from-url");
  const url = await serverUrl("redis");
  const connection = new Redis(url);
  // the first is a script, or the digest of one
  const { client, bytes } = counted(connection, (method, [, ...args]) => (method.startsWith("eval") ? args : null));
  const close = async (): Promise<void> => {
    await connection.quit();
    const site = await siteFromUrl(url);
    await site.drop(space);
    await site.close();
  };
  return { store: redisStore(client, { prefix: space }), bytes, close };
}

async function upstash(library: Library): Promise<Opened> {
  const { Redis } = await import("@upstash/redis");
  const { upstashStore } = await library("./stores/upstash");
  const { siteFromUrl } = await library("./stores/from-url");
  const redisUrl = await serverUrl("redis");
  const server = await upstashServer({ redisUrl, token: "token" });
  const connection = new Redis({ url: server.url, token: "token" });
  const { client, bytes } = counted(connection, (method, [, ...args]) => (method.startsWith("eval") ? args : null));
  const close = async (): Promise<void> => {
    await server.close();
    const site = await siteFromUrl(redisUrl);
    await site.drop(space);
    await site.close();
  };
  return { store: upstashStore(client, { prefix: space }), bytes, close };
}

async function dynamo(library: Library): Promise<Opened> {
  const { DynamoDB } = await import("@aws-sdk/client-dynamodb");
  const { DynamoDBDocument } = await import("@aws-sdk/lib-dynamodb");
  const { createDynamoTable, dynamoStore } = await library("./stores/dynamo");
  const endpoint = await serverUrl("dynamodb");
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new DynamoDB({ region: "local", endpoint, credentials });
  await createDynamoTable(client, space);
  const documents: Counted<DynamoDBDocumentOf> = counted(DynamoDBDocument.from(client), (_method, args) => valuesIn(args));
  const close = async (): Promise<void> => {
    await client.deleteTable({ TableName: space });
    client.destroy();
  };
  return { store: dynamoStore(documents.client, { table: space }), bytes: documents.bytes, close };
}

/** What of requests is values, and not names and expressions. */
function valuesIn(request: unknown): unknown {
  if (typeof request !== "object" || request === null) return null;
  return Object.entries(request).map(([name, member]) =>
    ["Item", "Key", "ExpressionAttributeValues"].includes(name) ? (member as unknown) : valuesIn(member),
  );
}

type DynamoDBDocumentOf = ReturnType<typeof import("@aws-sdk/lib-dynamodb")["DynamoDBDocument"]["from"]>;

async function libsql(library: Library): Promise<Opened> {
  const { createClient } = await import("@libsql/client");
  const { libsqlStore } = await library("./stores/libsql");
  const server = await hranaServer();
  const connection = createClient({ url: server.url });
  const { client, bytes } = counted(connection, (_method, [statements]) =>
    [statements].flat().map((one) => (one as { args?: unknown } | undefined)?.args),
  );
  const close = async (): Promise<void> => {
    connection.close();
    await server.close();
  };
  return { store: libsqlStore(client, { migrate: true }), bytes, close };
}

async function mongo(library: Library): Promise<Opened> {
  const { MongoClient } = await import("mongodb");
  const { mongoStore } = await library("./stores/mongo");
  const server = await mongoServer();
  const connection = await new MongoClient(server.url).connect();
  const { client, bytes } = counted(connection.db("bench"), (method, args) => (method === "collection" ? null : valuesOf(args)));
  const close = async (): Promise<void> => {
    await connection.close();
    await server.close();
  };
  return { store: mongoStore(client, { prefix: `${space}_`, migrate: true }), bytes, close };
}

/** Stages and options of MongoDB that are the same in every call: they name fields, collections and modes. */
const fixed: readonly string[] = [
  ...["$unwind", "$project", "$unset", "$merge", "projection"],
  ...["returnDocument", "readPreference", "readConcern", "writeConcern"],
];

/**
 * What of a call's arguments would be bound to a statement in SQL: texts and numbers, but no names of fields and operators,
 * and no text like "$key", which is the path of a field unless it stands under `$literal`. Constants in filters and
 * expressions count, although a statement would have them in its text.
 */
function valuesOf(argument: unknown): unknown {
  if (typeof argument === "string") return argument.startsWith("$") ? null : argument;
  if (Array.isArray(argument)) return argument.map(valuesOf);
  if (typeof argument !== "object" || argument === null) return argument;
  return Object.entries(argument).map(([name, member]) => {
    if (fixed.includes(name)) return null;
    return name === "$literal" ? (member as unknown) : valuesOf(member);
  });
}

/** The stores by the names of their entries. */
export const countedStores = { sqlite, libsql, postgres, mysql, mongo, dynamo, redis, upstash } as const;

/** One node that loops, each step committed to a store: the bytes handed over. `onStep` is told when a step begins. */
export async function loopedBytes(
  library: Library,
  { store, bytes, close }: Opened,
  onStep: (step: number) => void = () => undefined,
): Promise<number> {
  const { createRuntime } = await library("./runtime");
  const runtime = createRuntime({ store, workflows: [circle], nodeDefinitions: circling(loopTimes, output, onStep) });
  try {
    const before = bytes();
    await (await runtime.start("circle")).result();
    return bytes() - before;
  } finally {
    await runtime.close();
    await store.close();
    await close();
  }
}
