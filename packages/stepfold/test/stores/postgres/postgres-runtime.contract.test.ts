import { afterAll, describe } from "vitest";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import { migratePostgres, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { mixedWorkers } from "../../runtime/deployments/mixed-workers.fixture.ts";
import { stricterCode } from "../../runtime/deployments/stricter-code.fixture.ts";
import { keptKeys } from "../../runtime/keys/kept-keys.fixture.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(8);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

async function open(): Promise<SnapshotStore> {
  const schema = newSchema();
  schemas.push(schema);
  await migratePostgres(pool, { schema });
  return postgresStore(pool, { schema });
}

describe.skipIf(url === null)("on a server", () => {
  stricterCode("PostgreSQL", open);
  mixedWorkers("PostgreSQL", open);
  mixedWorkers("PostgreSQL", open, async () => memoryQueue());
  keptKeys("PostgreSQL", open);
});
