import { afterAll, beforeAll, describe, it } from "vitest";
import { pgBossQueue } from "../../src/queues/pg-boss/index.ts";
import { migratePostgres, postgresStore } from "../../src/stores/databases/postgres/index.ts";
import { newSchema, poolOf } from "../stores/postgres/postgres-bench.fixture.ts";
import { bossServer, url } from "./pg-boss-bench.fixture.ts";
import { runOver } from "./runtime-over-queue.fixture.ts";

const server = bossServer();
const pool = poolOf(10);
const schemas = [newSchema(), newSchema()];
beforeAll(async () => {
  if (url !== null) for (const schema of schemas) await migratePostgres(pool, { schema });
});
afterAll(async () => {
  if (url !== null) for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
  await server.close();
});

describe.skipIf(url === null)("a runtime over pg-boss", () => {
  for (const [index, sharesStoreDatabase] of [true, false].entries()) {
    it(`runs what other processes started, at once and later, ${sharesStoreDatabase ? "announced in one transaction" : "announced afterwards"}`, () =>
      runOver(async () => {
        const { boss } = await server.boss();
        const queue = pgBossQueue(boss, { name: `runtime-${index}`, pollMs: 100, sharesStoreDatabase });
        return { queue, store: postgresStore(pool, { schema: schemas[index]! }) };
      }, 40));
  }
});
