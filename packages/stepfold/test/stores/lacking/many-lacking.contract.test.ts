import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { createClient } from "@libsql/client";
import { afterAll, describe } from "vitest";
import { hranaServer } from "../../../../../scripts/servers/hrana-server.ts";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import { libsqlStore } from "../../../src/stores/databases/libsql/index.ts";
import { MemoryTable } from "../../../src/stores/databases/memory/memory-table.ts";
import { mongoStore } from "../../../src/stores/databases/mongo/index.ts";
import { mysqlStore } from "../../../src/stores/databases/mysql/mysql-store.ts";
import { postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import { sqliteError } from "../../../src/stores/databases/sqlite/sqlite-error.ts";
import { storeOver } from "../../../src/stores/kit/store-over.ts";
import { methodsOf, useTable } from "../dynamo/dynamo-bench.fixture.ts";
import { mongoDatabases } from "../mongo/mongo-databases.fixture.ts";
import { observed } from "../mongo/observed-database.fixture.ts";
import { mysqlServer } from "../mysql/mysql-bench.fixture.ts";
import { watched } from "../mysql/watched-pool.fixture.ts";
import { newSchema, poolOf, url as postgresUrl } from "../postgres/postgres-bench.fixture.ts";
import { ownPrefixes } from "../redis/own-prefix.fixture.ts";
import { openInside } from "../sqlite/open-inside.fixture.ts";
import { type CountingStore, manyLacking, manyLackingOfOne } from "./many-lacking.fixture.ts";

const opened: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of opened.reverse()) await close();
});

/** A counter, and an object whose calls it counts. */
function counting<T extends object>(target: T): { readonly calls: T; readonly asked: () => number } {
  let count = 0;
  const calls = new Proxy(target, {
    get(inside, name) {
      const member: unknown = Reflect.get(inside, name);
      if (typeof member !== "function") return member;
      return (...given: never[]) => {
        count++;
        return Reflect.apply(member, inside, given);
      };
    },
  });
  return { calls, asked: () => count };
}

const memory = async (): Promise<CountingStore> => {
  const { calls, asked } = counting(new MemoryTable(() => 1_000_000));
  return { store: storeOver(calls, { errorOf: sqliteError }), asked };
};

const sqlite = async (): Promise<CountingStore> => {
  const { store, statements } = openInside(":memory:");
  return { store, asked: () => statements.length };
};

describe("executions that a process lacks", () => {
  // one write for each of them
  manyLacking("memory", { open: memory, perHundred: 102 });
  manyLackingOfOne("memory", memory);
  manyLacking("SQLite", { open: sqlite, perHundred: 104 });
  manyLackingOfOne("SQLite", sqlite);

  manyLacking("libSQL over HTTP (stand-in for sqld)", {
    // the stand-in takes ten seconds for 10,000
    count: 2_000,
    perHundred: 4,
    async open() {
      const server = await hranaServer();
      opened.push(() => server.close());
      let requests = 0;
      const client = createClient({
        url: server.url,
        fetch: (...request: Parameters<typeof fetch>) => {
          requests++;
          return fetch(...request);
        },
      });
      return { store: libsqlStore(client, { migrate: true }), asked: () => requests };
    },
  });
});

const pool = poolOf(8);
opened.push(() => pool.end());

describe.skipIf(postgresUrl === null)("executions that a process lacks", () => {
  manyLacking("PostgreSQL", {
    perHundred: 3,
    async open() {
      const schema = newSchema();
      opened.push(() => pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`));
      const { calls, asked } = counting({ query: (text: string, values: unknown[] = []) => pool.query(text, values) });
      return { store: postgresStore(calls, { schema, migrate: true }), asked };
    },
  });
});

const mysqlUrl = await serviceUrlOrSkip("mariadb");

describe.skipIf(mysqlUrl === null)("executions that a process lacks", () => {
  manyLacking("MariaDB", {
    perHundred: 10,
    async open() {
      const server = await mysqlServer(mysqlUrl!);
      opened.push(() => server.close());
      const { pool: watchedPool, texts } = watched(server.pool());
      return { store: mysqlStore(watchedPool, { migrate: true }), asked: () => texts.length };
    },
  });
});

const redisUrl = await serviceUrlOrSkip("redis");

describe.skipIf(redisUrl === null)("executions that a process lacks", () => {
  manyLacking("Redis", {
    perHundred: 4,
    async open() {
      const own = ownPrefixes(redisUrl!);
      opened.push(() => own.close());
      const { redis } = own;
      const send = redis.sendCommand.bind(redis);
      let commands = 0;
      redis.sendCommand = (...given) => {
        commands++;
        return send(...given);
      };
      return { store: redisStore(redis, { prefix: own.next() }), asked: () => commands };
    },
  });
});

const databases = await mongoDatabases();

describe("executions that a process lacks", () => {
  manyLacking("MongoDB (stand-in for a single mongod, or the server at STEPFOLD_MONGODB_URL)", {
    // the stand-in has no indexes: it takes minutes for 10,000
    count: 500,
    perHundred: 102,
    async open() {
      let calls = 0;
      const database = observed(databases.add(), () => {
        calls++;
        return undefined;
      });
      return { store: mongoStore(database), asked: () => calls };
    },
  });
});

const dynamoUrl = await serviceUrlOrSkip("dynamodb");
const local = useTable(dynamoUrl);

describe.skipIf(dynamoUrl === null)("executions that a process lacks", () => {
  let prefixes = 0;
  manyLacking("DynamoDB Local", {
    // DynamoDB Local takes minutes for 10,000
    count: 500,
    perHundred: 312,
    async open() {
      const { client, table } = await local();
      const { calls, asked } = counting(methodsOf(DynamoDBDocument.from(client)));
      return { store: dynamoStore(calls, { table, prefix: `lacking${++prefixes}` }), asked };
    },
  });
});
