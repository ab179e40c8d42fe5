import { afterAll, describe } from "vitest";
import { migratePostgres, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { commandsInStates } from "../../runtime/identity/commands.fixture.ts";
import { findings } from "../../runtime/identity/findings.fixture.ts";
import { restartEnds } from "../../runtime/identity/restart-ends.fixture.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(16);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

const open = async () => {
  const schema = newSchema();
  schemas.push(schema);
  await migratePostgres(pool, { schema });
  return postgresStore(pool, { schema });
};

describe.skipIf(url === null)("on a server", () => {
  restartEnds("PostgreSQL", open);
  commandsInStates("PostgreSQL", open);
  findings("PostgreSQL", open);
});
