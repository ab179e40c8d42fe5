import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { Long } from "mongodb";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import { migrateMongo, mongoStore } from "../../../src/stores/databases/mongo/index.ts";
import { mysqlStore } from "../../../src/stores/databases/mysql/mysql-store.ts";
import { migratePostgres, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import type { useTable } from "../dynamo/dynamo-bench.fixture.ts";
import type { MongoDatabases } from "../mongo/mongo-databases.fixture.ts";
import type { MysqlServer } from "../mysql/mysql-bench.fixture.ts";
import { newSchema, poolOf } from "../postgres/postgres-bench.fixture.ts";
import type { OwnPrefixes } from "../redis/own-prefix.fixture.ts";

/** A store whose rows a test can damage. */
export interface DamagedStore {
  readonly store: SnapshotStore;
  /** Sets a column of the row of an execution. Rejects if the database does not take the value. */
  set(workflowId: string, column: string, value: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** A number that JavaScript cannot hold exactly. */
const beyond = 9_007_199_254_740_993n;
const largest = 9_223_372_036_854_775_807n;

const numbers = ["version", "size_bytes", "fence", "crashes", "trimmed", "wake_at", "exempt_at", "created_at", "updated_at"] as const;
const texts = ["head", "definition", "metadata", "labels", "status", "incarnation"] as const;

/** Damages by column: numbers beyond every number, wrong types, null, and texts that are no JSON, or JSON of something else. */
export const damages: readonly (readonly [column: string, value: bigint | string | number | null])[] = [
  ...numbers.flatMap((column) => [beyond, largest, -largest, -5, "text", null].map((value) => [column, value] as const)),
  ...texts.flatMap((column) => ["", "{", "null", "5", "[]", '"text"', "{}", "\u0000x", null].map((value) => [column, value] as const)),
  ...["head", "status"].map((column) => [column, 5] as const),
];

const camel = (column: string): string => column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

export async function damagedPostgres(): Promise<DamagedStore> {
  const pool = poolOf(2);
  const schema = newSchema();
  await migratePostgres(pool, { schema });
  return {
    store: postgresStore(pool, { schema }),
    set: (id, column, value) => pool.query(`UPDATE "${schema}".executions SET ${column} = $1 WHERE id = $2`, [value, id]),
    async close() {
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
    },
  };
}

/** One pool for each server: a server has a limited number of connections. */
const pools = new Map<MysqlServer, ReturnType<MysqlServer["pool"]>>();

export async function damagedMysql(server: MysqlServer): Promise<DamagedStore> {
  const prefix = `damage_${crypto.randomUUID().slice(0, 8)}_`;
  const pool = pools.get(server) ?? server.pool();
  pools.set(server, pool);
  return {
    store: mysqlStore(pool, { prefix, migrate: true }),
    set: (id, column, value) =>
      pool.query(`UPDATE ${prefix}executions SET ${column} = ? WHERE id = ?`, [
        typeof value === "bigint" ? String(value) : value,
        Buffer.from(id),
      ]),
    close: async () => undefined,
  };
}

export async function damagedMongo({ add }: MongoDatabases): Promise<DamagedStore> {
  const db = add();
  await migrateMongo(db);
  const document = (value: unknown): unknown => (typeof value === "bigint" ? Long.fromBigInt(value) : value);
  return {
    store: mongoStore(db),
    set: (id, column, value) =>
      db.collection("stepfold_executions").updateOne({ _id: id as never }, { $set: { [camel(column)]: document(value) } }),
    close: async () => undefined,
  };
}

/** The fields of a hash in Redis that have another name than the column. */
const redisFields: Readonly<Record<string, string>> = {
  size_bytes: "size",
  wake_at: "wake",
  exempt_at: "exempt",
  created_at: "created",
  updated_at: "updated",
};

export async function damagedRedis({ redis, next }: OwnPrefixes): Promise<DamagedStore> {
  const prefix = next();
  return {
    store: redisStore(redis, { prefix }),
    async set(id, column, value) {
      const [key, field] = [`{${prefix}}:e:${id}`, redisFields[column] ?? column];
      if ((await redis.exists(key)) !== 1) throw new Error(`there is no key ${key}`);
      await (value === null ? redis.hdel(key, field) : redis.hset(key, field, String(value)));
    },
    close: async () => undefined,
  };
}

export async function damagedDynamo(local: ReturnType<typeof useTable>): Promise<DamagedStore> {
  const { client, table } = await local();
  const prefix = crypto.randomUUID().slice(0, 8);
  const document = DynamoDBDocument.from(client);
  return {
    store: dynamoStore(document, { table, prefix }),
    set: (id, column, value) =>
      document.update({
        TableName: table,
        Key: { pk: `${prefix}.x#${id}`, sk: "head" },
        UpdateExpression: value === null ? "REMOVE #name" : "SET #name = :value",
        ExpressionAttributeNames: { "#name": column === "exempt_at" ? "exemptSort" : camel(column) },
        ...(value !== null && { ExpressionAttributeValues: { ":value": value } }),
      }),
    close: async () => undefined,
  };
}
