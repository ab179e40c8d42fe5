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

/** The number of steps of the loop. */
export const loopTimes = 5_000;
const output = { text: "x".repeat(89) }; // 100 bytes of JSON

/** A store in a place of its own, on a client whose bytes are counted. */
export interface Opened {
  readonly store: SnapshotStore;
  /** The bytes that were handed to the client so far. */
  readonly bytes: () => number;
  /** Closes the client, and removes what the store has written. */
  readonly close: () => Promise<void>;
}

// the length of the store's default name, because the name is part of each key and its bytes count
const space = `b_${randomUUID().slice(0, 6)}`;

/** Opens a store on a new SQLite file. The count includes everything that this process binds to SQLite statements. */
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
  // the first argument is a script or its digest, and does not count
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

/** Returns the parts of a request that are values, without names and expressions. */
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

/** Stages and options of MongoDB whose contents are the same in every call: they name fields, collections and modes. */
const fixed: readonly string[] = [
  ...["$unwind", "$project", "$unset", "$merge", "projection"],
  ...["returnDocument", "readPreference", "readConcern", "writeConcern"],
];

/**
 * Returns the parts of a call's arguments that a SQL store would bind to a statement: texts and numbers, but not the names of fields
 * and operators.
 * A text like "$key" is the path of a field, unless it stands under `$literal`. Constants in filters and expressions count, although a
 * SQL store would have them in the text of the statement.
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

/** Functions that open each store, by the name of the store's entry in the library. */
export const countedStores = { sqlite, libsql, postgres, mysql, mongo, dynamo, redis, upstash } as const;

/**
 * Runs the loop on a store with one commit per step, and returns the bytes that were handed to the client. `onStep` is called when a
 * step begins.
 */
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
