import { randomUUID } from "node:crypto";
import type { SnapshotStore } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { hranaServer } from "../../scripts/servers/hrana-server.ts";
import { mongoServer } from "../../scripts/servers/mongo-server.ts";
import { type ServiceName, serviceUrl } from "../../scripts/servers/service-url.ts";
import { type Counted, counted } from "../counted.ts";
import type { Group, Row } from "../group.ts";
import { circle, circling } from "../line.ts";
import { type Sample, spread } from "../measure.ts";
import { PeerMissing } from "../peer.ts";

const times = 5_000;
const window = 1_000;
const output = { text: "x".repeat(89) }; // 100 bytes of JSON

interface Opened {
  readonly store: SnapshotStore;
  readonly bytes: () => number;
  readonly close: () => Promise<void>;
}

// as long as the default name: keys count
const space = `b_${randomUUID().slice(0, 6)}`;

async function urlOf(service: ServiceName): Promise<string> {
  const url = await serviceUrl(service);
  if (url === null) throw new PeerMissing(service);
  return url;
}

async function postgres(): Promise<Opened> {
  const { default: pg } = await import("pg");
  const { postgresStore } = await import("stepfold/stores/postgres");
  const pool = new pg.Pool({ connectionString: await urlOf("postgres"), max: 20 });
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

async function mariadb(): Promise<Opened> {
  const { createPool } = await import("mysql2/promise");
  const { mysqlStore } = await import("stepfold/stores/mysql");
  const { siteFromUrl } = await import("stepfold/stores/from-url");
  const url = await urlOf("mariadb");
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

async function redis(): Promise<Opened> {
  const { Redis } = await import("ioredis");
  const { redisStore } = await import("stepfold/stores/redis");
  const { siteFromUrl } = await import("stepfold/stores/from-url");
  const url = await urlOf("redis");
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

async function dynamodb(): Promise<Opened> {
  const { DynamoDB } = await import("@aws-sdk/client-dynamodb");
  const { DynamoDBDocument } = await import("@aws-sdk/lib-dynamodb");
  const { createDynamoTable, dynamoStore } = await import("stepfold/stores/dynamo");
  const endpoint = await urlOf("dynamodb");
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

async function libsql(): Promise<Opened> {
  const { createClient } = await import("@libsql/client");
  const { libsqlStore } = await import("stepfold/stores/libsql");
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

async function mongodb(): Promise<Opened> {
  const { MongoClient } = await import("mongodb");
  const { mongoStore } = await import("stepfold/stores/mongo");
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
const fixed: readonly string[] = ["$unwind", "$project", "$merge", "readPreference", "readConcern", "writeConcern"];

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

/** The loop, each step committed: bytes of parameters, and how long a step takes near the beginning and at the end. */
async function looped(open: () => Promise<Opened>): Promise<Sample> {
  const { store, bytes, close } = await open();
  const at = new Float64Array(times);
  const nodeDefinitions = circling(times, output, (step) => {
    at[step] = performance.now();
  });
  const runtime = createRuntime({ store, workflows: [circle], nodeDefinitions });
  try {
    const before = bytes();
    await (await runtime.start("circle")).result();
    const took = (from: number): number =>
      spread(Array.from(at.subarray(from, from + window - 1), (began, index) => (at[from + index + 1]! - began) * 1000)).median;
    return { bound: (bytes() - before) / 1e6, early: took(10), late: took(times - window) };
  } finally {
    await runtime.close();
    await store.close();
    await close();
  }
}

const subjects = { postgres, mariadb, redis, dynamodb, libsql, mongodb };
const titles: Readonly<Record<keyof typeof subjects, string>> = {
  postgres: "PostgreSQL",
  mariadb: "MariaDB",
  redis: "Redis",
  dynamodb: "DynamoDB Local",
  libsql: "libSQL (stand-in for its server)",
  mongodb: "MongoDB (stand-in)",
};

/** The loop of the group `loop`, on every store that has a server. */
export const stores: Group = {
  cases: Object.fromEntries(Object.entries(subjects).map(([name, open]) => [name, { once: true as const, sample: () => looped(open) }])),
  rows: Object.keys(subjects).flatMap((of): Row[] => [
    {
      work: `5,000 steps on ${titles[of as keyof typeof subjects]}, 100-byte outputs: bound parameters`,
      figure: { of, key: "bound" },
      unit: "MB",
      target: { of: "figure", atMost: 5 },
    },
    {
      work: "the same: one of the last 1,000 steps",
      figure: { of, key: "late" },
      unit: "µs/step",
      reference: { name: "one of 1,000 steps from the tenth on", figure: { of, key: "early" } },
      target: { of: "ratio", atMost: 1.1 },
    },
  ]),
  notes: () => [
    "Bound parameters: text in UTF-8, 8 bytes for a number. Of SQL the values bound to statements, of Redis the arguments of scripts. Of DynamoDB and",
    "MongoDB the values in requests: not the names of fields and operators, expressions that only name fields, and options of every call.",
  ],
};
