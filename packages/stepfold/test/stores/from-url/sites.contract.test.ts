import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { createClient } from "@libsql/client";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { createPool } from "mysql2/promise";
import { Pool } from "pg";
import * as nodeRedis from "redis";
import { afterAll, describe, expect, it } from "vitest";
import { hranaServer } from "../../../../../scripts/servers/hrana-server.ts";
import { mongoServer } from "../../../../../scripts/servers/mongo-server.ts";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { upstashServer } from "../../../../../scripts/servers/upstash-server.ts";
import { openNodeRedis } from "../../../src/stores/from-url/connect-redis.ts";
import { siteFromUrl, storeFromUrl } from "../../../src/stores/from-url/store-from-url.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/commit-builder.ts";

/** A database that is opened by its URL. */
interface TestDatabase {
  readonly url: string;
  /** The names of everything in the database, as its own driver lists them. The list is empty where the database has no names. */
  names(): Promise<readonly string[]>;
  /** Runs statements with the driver itself. */
  run?(statements: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const folder = mkdtempSync(join(tmpdir(), "stepfold-sites-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const newSpace = (): string => `site_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
const nothing = async (): Promise<void> => undefined;

function sqliteDatabase(): TestDatabase {
  const path = join(folder, "site.db");
  return {
    url: `sqlite:${path}`,
    names: async () => readdirSync(folder),
    async run(statements) {
      const db = new DatabaseSync(`${path}.by_hand`);
      for (const statement of statements) db.exec(statement);
      db.close();
    },
    close: nothing,
  };
}

function libsqlDatabase(url: string, close: () => Promise<void>): TestDatabase {
  const client = createClient({ url });
  return {
    url: `libsql:${url}`,
    names: async () => [],
    async run(statements) {
      await client.batch([...statements], "write");
    },
    async close() {
      client.close();
      await close();
    },
  };
}

async function postgresDatabase(): Promise<TestDatabase | null> {
  const url = await serviceUrlOrSkip("postgres");
  if (url === null) return null;
  const pool = new Pool({ connectionString: url });
  return {
    url,
    names: async () => (await pool.query("SELECT nspname AS name FROM pg_namespace")).rows.map(({ name }) => name),
    async run(statements) {
      for (const statement of statements) await pool.query(statement);
    },
    close: () => pool.end(),
  };
}

async function mysqlDatabase(): Promise<TestDatabase | null> {
  const url = await serviceUrlOrSkip("mariadb");
  if (url === null) return null;
  const pool = createPool(url.replace(/^mariadb:/, "mysql:"));
  return {
    url,
    async names() {
      const [rows] = await pool.query("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()");
      return (rows as { name: string }[]).map(({ name }) => name);
    },
    async run(statements) {
      for (const statement of statements) await pool.query(statement);
    },
    close: () => pool.end(),
  };
}

async function redisDatabase(): Promise<TestDatabase | null> {
  const url = await serviceUrlOrSkip("redis");
  if (url === null) return null;
  const redis = new Redis(url);
  const names = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const keys of redis.scanStream({ match: "{site_*", count: 1_000 })) found.push(...(keys as string[]));
    return found.map((key) => key.slice(1));
  };
  return { url, names, close: async () => void (await redis.quit()) };
}

async function upstashDatabase(): Promise<TestDatabase | null> {
  const redis = await redisDatabase();
  if (redis === null) return null;
  const server = await upstashServer({ redisUrl: redis.url });
  const close = async (): Promise<void> => {
    await server.close();
    await redis.close();
  };
  return { ...redis, url: `upstash:${server.url}?token=token`, close };
}

async function dynamoDatabase(): Promise<TestDatabase | null> {
  const endpoint = await serviceUrlOrSkip("dynamodb");
  if (endpoint === null) return null;
  const client = new DynamoDB({ region: "local", endpoint, credentials: { accessKeyId: "local", secretAccessKey: "local" } });
  return {
    url: `dynamodb://local/workflows?endpoint=${encodeURIComponent(endpoint)}`,
    async names() {
      const found: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await client.listTables({ ExclusiveStartTableName: after });
        found.push(...(page.TableNames ?? []));
        after = page.LastEvaluatedTableName;
        if (after === undefined) return found;
      }
    },
    close: async () => client.destroy(),
  };
}

async function mongoDatabase(): Promise<TestDatabase> {
  const server = await mongoServer();
  const url = server.url.replace(/\/?$/, "/sites");
  const client = new MongoClient(url);
  const names = async (): Promise<string[]> =>
    (await client.db().listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  const close = async (): Promise<void> => {
    await client.close();
    await server.close();
  };
  return { url, names, close };
}

const places: Readonly<Record<string, () => Promise<TestDatabase | null>>> = {
  sqlite: async () => sqliteDatabase(),
  postgres: postgresDatabase,
  "mysql (MariaDB)": mysqlDatabase,
  redis: redisDatabase,
  "upstash (a stand-in)": upstashDatabase,
  dynamodb: dynamoDatabase,
  "mongodb (a stand-in)": mongoDatabase,
};

describe.each(Object.entries(places))("a site of %s", (_name, open) => {
  it("keeps executions in a space, away from the one beside it, and drops the one and not the other", async ({ skip }) => {
    const place = await open();
    if (place === null) return skip();
    const site = await siteFromUrl(place.url);
    // the name `space` is the beginning of the name `other`
    const space = newSpace();
    const other = `${space}2`;
    const of = async (name: string): Promise<string[]> => (await place.names()).filter((one) => one.includes(name));
    try {
      expect(site.hasSpaces).toBe(true);
      const store = await site.open(space, { migrate: true });
      const started = startCommit("order-1");
      await store.create(started);
      const stepped = stepCommit(started);
      await store.commit(stepped);
      expect(await store.load("order-1")).toMatchObject(snapshotAfter(started, stepped));
      const beside = await site.open(other, { migrate: true });
      expect(await beside.load("order-1")).toBeNull();
      await beside.create(startCommit("order-1"));
      const both = await of(space);
      expect(both.length).toBeGreaterThan((await of(other)).length);
      await store.close();

      await site.drop(space);
      expect(await of(space)).toEqual(await of(other));
      expect(await beside.load("order-1")).toMatchObject({ version: 0 });
      await beside.close();
    } finally {
      await site.drop(space).catch(() => undefined);
      await site.drop(other).catch(() => undefined);
      expect(await of(space)).toEqual([]);
      await site.close();
      await place.close();
    }
  });

  it("is usable after the statements that it tells have been run by hand", async ({ skip }) => {
    const place = await open();
    if (place === null) return skip();
    const site = await siteFromUrl(place.url);
    const space = place.url.startsWith("sqlite:") ? "by_hand" : newSpace();
    try {
      const statements = await site.migrations(space);
      if (!place.run) return expect(statements).toBeNull();
      await place.run(statements!);
      for (const migrate of [false, true]) {
        const store = await site.open(space, { migrate });
        const id = `order-${migrate}`;
        await store.create(startCommit(id));
        expect(await store.load(id)).toMatchObject({ version: 0 });
        await store.close();
      }
    } finally {
      await site.drop(space);
      await site.close();
      await place.close();
    }
  });
});

describe("a site of libsql", () => {
  it.each([
    ["a file", async () => libsqlDatabase(`file:${join(folder, "libsql.db")}`, nothing)],
    [
      "a server (a stand-in)",
      async () => {
        const server = await hranaServer({ path: join(folder, "hrana.db") });
        return libsqlDatabase(server.url, () => server.close());
      },
    ],
  ])("has no spaces, and is usable after its statements were run by hand: %s", async (_over, open) => {
    const place = await open();
    const site = await siteFromUrl(place.url);
    expect(site.hasSpaces).toBe(false);
    await place.run!((await site.migrations(site.space))!);
    for (const migrate of [false, true]) {
      const store = await site.open(site.space, { migrate });
      await store.create(startCommit(`order-${migrate}`));
      expect(await store.load(`order-${migrate}`)).toMatchObject({ version: 0 });
      await store.close();
    }
    await site.close();
    await place.close();
  });
});

describe("what opens Redis by its URL", () => {
  it("works with node-redis too, and ends it", async ({ skip }) => {
    const url = await serviceUrlOrSkip("redis");
    if (url === null) return skip();
    const { command, close } = await openNodeRedis(nodeRedis, url);
    expect(await command(["PING"])).toBe("PONG");
    await close();
    await expect(command(["PING"])).rejects.toThrow();
  });
});

describe("a wrong password", () => {
  it.each(["postgres", "mariadb"] as const)("is not told by %s", async (name) => {
    const served = await serviceUrlOrSkip(name);
    if (served === null) return;
    const url = new URL(served);
    url.password = "s3cret";
    url.username = "nobody_here";
    const store = await storeFromUrl(url.href);
    await expect(store.load("order-1")).rejects.toMatchObject({ code: "STORE_REJECTED", message: expect.not.stringContaining("s3cret") });
    await store.close();
  });
});
