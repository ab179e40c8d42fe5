import { afterAll, describe } from "vitest";
import { migratePostgres, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { callers, costsOfCallers } from "../../runtime/callers/callers.fixture.ts";
import { commandsInStates } from "../../runtime/identity/commands.fixture.ts";
import { costsOfRuns } from "../../runtime/identity/costs.fixture.ts";
import { findings } from "../../runtime/identity/findings.fixture.ts";
import { restartEnds } from "../../runtime/identity/restart-ends.fixture.ts";
import { scheduleFindings } from "../../schedules/findings.fixture.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(16);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

const migrated = async (): Promise<string> => {
  const schema = newSchema();
  schemas.push(schema);
  await migratePostgres(pool, { schema });
  return schema;
};
const open = async () => postgresStore(pool, { schema: await migrated() });
const openCounted = async () => {
  const answers: { readonly rows: readonly unknown[] }[] = [];
  const query = async (text: string, values: unknown[] = []) => {
    const answer = await pool.query(text, values);
    answers.push(answer);
    return answer;
  };
  return { store: postgresStore({ query }, { schema: await migrated() }), answers };
};

describe.skipIf(url === null)("on a server", () => {
  restartEnds("PostgreSQL", open);
  commandsInStates("PostgreSQL", open);
  findings("PostgreSQL", open);
  costsOfRuns("PostgreSQL", openCounted);
  scheduleFindings("PostgreSQL", open);
  callers("PostgreSQL", open);
  costsOfCallers("PostgreSQL", openCounted);
});
