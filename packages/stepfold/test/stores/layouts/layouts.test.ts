import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/core/values/hash/sha256.ts";
import { itemLayout } from "../../../src/stores/databases/dynamo/dynamo-heads.ts";
import { dynamoTable } from "../../../src/stores/databases/dynamo/index.ts";
import { migrateMongo } from "../../../src/stores/databases/mongo/index.ts";
import { documentLayout } from "../../../src/stores/databases/mongo/mongo-schema.ts";
import { mysqlMigrations } from "../../../src/stores/databases/mysql/mysql-schema.ts";
import { postgresMigrations } from "../../../src/stores/databases/postgres/index.ts";
import { prelude } from "../../../src/stores/databases/redis/redis-schema.ts";
import { sqliteSchema } from "../../../src/stores/databases/sqlite-dialect/sqlite-schema.ts";

/** What a database stores, as text, and the number by which a process recognises it. */
interface Layout {
  readonly number: number;
  readonly parts: readonly string[];
}

/** The tables, indexes and sequences in statements, without comments and views: a view can be made anew at any time. */
function partsOf(statements: readonly string[]): string[] {
  const whole = statements.map((text) => text.replaceAll(/--.*$/gm, "")).join(";");
  const parts = whole.split(";").map((part) => part.replaceAll(/\s+/g, " ").trim());
  return parts.filter((part) => /^CREATE (TABLE|INDEX|UNIQUE INDEX|SEQUENCE)\b/.test(part));
}

/** Returns the number in a text behind what `pattern` finds. */
function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)![1]);
}

/** The indexes that MongoDB is asked to make. */
async function mongoIndexes(): Promise<string[]> {
  const asked: string[] = [];
  const collection = (name: string) => ({
    findOne: async () => null,
    createIndex: async (...index: unknown[]) => asked.push(`${name} ${JSON.stringify(index)}`),
  });
  await migrateMongo({ collection } as never);
  return asked.sort();
}

const sqlite: Layout = { number: numberIn(sqliteSchema.join(), /PRAGMA user_version = (\d+)/), parts: partsOf(sqliteSchema) };
const postgres = postgresMigrations();
const mysql = mysqlMigrations();

/** libSQL, D1 and Durable Objects have the layout of SQLite. */
const present: Readonly<Record<string, Layout>> = {
  sqlite,
  postgres: { number: numberIn(postgres.join(), /layouts \(number\) VALUES \((\d+)\)/), parts: partsOf(postgres) },
  mysql: { number: numberIn(mysql.join(), /\(only_row, layout\) VALUES \(1, (\d+)\)/), parts: partsOf(mysql) },
  mongo: { number: documentLayout, parts: await mongoIndexes() },
  dynamo: { number: itemLayout, parts: [JSON.stringify(dynamoTable("t"))] },
  redis: {
    number: numberIn(prelude, /"version"\) ~= "(\d+)"/),
    parts: [/local fields = \{[^}]*\}/.exec(prelude)![0].replaceAll(/\s+/g, " ")],
  },
};

/**
 * The layouts by database and number: a digest of the tables, columns and indexes. If a digest does not fit any more, processes of the version
 * before would read or write something else than those of this one: raise the number of the layout, and add a row. Before the first release
 * the number may stay if nobody can have made such tables: then replace the digest.
 */
const known: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  sqlite: { 2: "753913fefa46f885", 3: "f65361c403ce9c8e" },
  postgres: { 2: "f1bcfcc9a0b4c846", 3: "cf0688e8837153ce" },
  mysql: { 2: "9fbb6faf1b8ea81c", 3: "048ca452b131bb44" },
  mongo: { 2: "415f58b552d1395a", 3: "6a6d92be3fbdef86" },
  dynamo: { 2: "f993a2d4a5f55948", 3: "9a37c16ab9fdeb52" },
  redis: { 2: "362b033411351154", 3: "17277aa35cf7f8ce" },
};

describe("the number of a layout", () => {
  it.each(Object.entries(present))("rises with what is stored: %s", (name, { number, parts }) => {
    expect(parts.length).toBeGreaterThan(0);
    expect({ [number]: sha256(parts.join("\n")).slice(0, 16) }, parts.join("\n")).toEqual({ [number]: known[name]![number] });
    expect(Math.max(...Object.keys(known[name]!).map(Number))).toBe(number);
  });

  it("is noticed to be old when a column, a type or an index changes, and not for a comment or a view", () => {
    const digest = (statements: readonly string[]): string => sha256(partsOf(statements).join("\n"));
    const changed = (from: string | RegExp, to: string): string => digest(sqliteSchema.map((text) => text.replace(from, to)));
    const now = digest(sqliteSchema);
    expect(changed("seq INTEGER PRIMARY KEY,", "seq INTEGER PRIMARY KEY, more TEXT,")).not.toBe(now);
    expect(changed("commit_id TEXT NOT NULL", "commit_id TEXT")).not.toBe(now);
    expect(changed("(created_at) WHERE", "(created_at, seq) WHERE")).not.toBe(now);
    expect(digest(sqliteSchema.filter((text) => !text.includes("executions_run")))).not.toBe(now);
    expect(changed("-- JSON", "-- some JSON")).toBe(now);
    expect(digest([...sqliteSchema, "CREATE VIEW more AS SELECT 1"])).toBe(now);
  });
});
