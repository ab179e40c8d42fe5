import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { startCommit, stepCommit } from "../../../src/testing/commit-builder.ts";
import { useTable } from "../dynamo/dynamo-bench.fixture.ts";
import { mongoDatabases } from "../mongo/mongo-databases.fixture.ts";
import { type MysqlServer, mysqlServer } from "../mysql/mysql-bench.fixture.ts";
import { ownPrefixes } from "../redis/own-prefix.fixture.ts";
import {
  type DamagedStore,
  damagedDynamo,
  damagedMongo,
  damagedMysql,
  damagedPostgres,
  damagedRedis,
  damages,
} from "./damaged-stores.fixture.ts";

const [postgres, mysql, redis, dynamodb] = await Promise.all(
  (["postgres", "mariadb", "redis", "dynamodb"] as const).map((name) => serviceUrlOrSkip(name)),
);
const prefixes = redis ? ownPrefixes(redis) : null;
const local = useTable(dynamodb ?? null);
const databases = await mongoDatabases();
let server: MysqlServer | null = null;
beforeAll(async () => {
  server = mysql ? await mysqlServer(mysql) : null;
});
afterAll(async () => {
  await Promise.all([server?.close(), prefixes?.close()]);
});

const stores: readonly (readonly [name: string, open: (() => Promise<DamagedStore>) | null])[] = [
  ["PostgreSQL", postgres ? damagedPostgres : null],
  ["MariaDB", mysql ? () => damagedMysql(server!) : null],
  ["MongoDB", () => damagedMongo(databases)],
  ["Redis", prefixes ? () => damagedRedis(prefixes) : null],
  ["DynamoDB", dynamodb ? () => damagedDynamo(local) : null],
];

/** Checks that executions beside a damaged one are claimed, listed, counted, and end, also those that share its permit, or need none any more. */
async function check(store: SnapshotStore, round: number, damage: (id: string) => Promise<unknown>): Promise<void> {
  const id = (name: string): string => `r${round}-${name}`;
  const permit = { key: `k${round}`, limit: 3 };
  const firsts = [...["x", "y", "z"].map((name) => startCommit(id(name)))];
  const limited = ["px", "py"].map((name) => startCommit(id(name), { head: { permit } }));
  const late = ["lx", "ly"].map((name) => startCommit(id(name), { head: { permit: { key: `l${round}`, limit: 1 }, deadlineAt: 1 } }));
  const holder = startCommit(id("holder"), { head: { permit: { key: `l${round}`, limit: 1 } } });
  await store.create(holder);
  await store.claim({ owner: "w", leaseMs: 60_000, limit: 1, workflowId: id("holder") });
  for (const first of [...firsts, ...limited, ...late]) await store.create(first);
  const ended = ["e", "f"].map((name) => startCommit(id(name), { status: "failed" }));
  for (const first of ended) await store.create(first);
  for (const name of ["x", "px", "lx", "e"]) await damage(id(name));
  const others = ["y", "z", "py", "ly"].map(id);
  const claims = [];
  for (let times = 0; times < 8; times++) claims.push(...(await store.claim({ owner: "w", leaseMs: 60_000, limit: 1 })));
  expect(
    claims.map(({ workflowId }) => workflowId),
    "claimed",
  ).toEqual(expect.arrayContaining(others));
  const listed: string[] = [];
  let cursor: string | null | undefined;
  for (let pages = 0; cursor !== null; pages++) {
    expect(pages, "pages").toBeLessThan(20);
    const page = await store.list({ limit: 1, idPrefix: id(""), ...(cursor !== undefined && { cursor }) });
    listed.push(...page.items.map(({ workflowId }) => workflowId));
    cursor = page.nextCursor;
  }
  expect(listed, "listed").toEqual(expect.arrayContaining([...others, id("f")]));
  const { byStatus } = (await store.count!({ idPrefix: id("") })) as unknown as { readonly byStatus?: unknown };
  expect(byStatus === undefined || byStatus !== null).toBe(true);
  const summaries = await store.summaries!([id("x"), ...others]);
  expect(
    summaries.map(({ workflowId }) => workflowId),
    "summaries",
  ).toEqual(expect.arrayContaining(others));
  for (const first of [...firsts, ...limited, ...late]) {
    if (!others.includes(first.workflowId)) continue;
    expect((await store.load(first.workflowId))?.workflowId).toBe(first.workflowId);
    const { fence } = claims.find(({ workflowId }) => workflowId === first.workflowId)!;
    await store.commit(stepCommit(first, { fence, status: "completed" }));
  }
  await store.prune({ before: Number.MAX_SAFE_INTEGER });
  for (const other of [...others, id("f")]) expect(await store.load(other), "pruned").toBeNull();
}

describe.each(stores)("a store of %s", (name, open) => {
  it.skipIf(open === null)("lets one damaged row stand still, and nothing else", { timeout: 300_000 }, async () => {
    const failed: string[] = [];
    for (const [round, [column, value]] of damages.entries()) {
      const { store, set, close } = await open!();
      const what = `${column} = ${typeof value === "string" ? JSON.stringify(value) : String(value)}`;
      try {
        // a value that the database refuses cannot be there
        await check(store, round, (id) => set(id, column, value).catch(() => undefined));
      } catch (error) {
        failed.push(`${what}: ${String((error as Error).message).slice(0, 300)}`);
      }
      await close();
    }
    expect(failed, name).toEqual([]);
  });

  it("is checked by what a sound store passes", async () => {
    await check(memoryStore(), 0, async () => undefined);
  });
});
