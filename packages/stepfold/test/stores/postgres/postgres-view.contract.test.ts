import { afterAll, describe, expect, it } from "vitest";
import { postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { showsEveryVersion, showsPresentRun, showsWhatLoadGives, type ViewRow } from "../view-cases.fixture.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(4);
const schemas: string[] = [];
const freshSchema = (): string => {
  schemas.push(newSchema());
  return schemas.at(-1)!;
};
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

/** Reads the rows of the view. The snapshot is the text of the server, so that no driver parses the JSON. */
async function shownIn(schema: string, id?: string): Promise<ViewRow[]> {
  const where = id === undefined ? "" : "WHERE id = $1";
  const text = `SELECT id, snapshot::text, status, version::int FROM "${schema}".workflow_executions ${where} ORDER BY id`;
  return (await pool.query(text, id === undefined ? [] : [id])).rows;
}

describe.skipIf(url === null)("PostgreSQL: the view workflow_executions", () => {
  it("shows what load gives, and can be asked about status, metadata and context", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    const outputs = [null, [], { deep: [{ x: 0.1 }] }, "text \u0000 \ud800 \\u0000 \\\\u", 2 ** 53, true];
    const message = 'no "luck" \u0000 😀 C:\\users\\u0000';
    await showsWhatLoadGives(store, { message, outputs, rows: () => shownIn(schema) });
  });

  it("can be asked by SQL about status, metadata and context", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    for (const customer of ["Ada", "Bob"]) {
      const first = startCommit(`order of ${customer}`, { metadata: { customer, paid: customer === "Ada" } });
      await store.create(first);
      await store.commit(stepCommit(first, { output: { deep: [{ x: 0.1 }] }, status: "paused" }));
    }
    const asked = await pool.query(`
      SELECT id FROM "${schema}".workflow_executions
      WHERE status = 'paused' AND snapshot -> 'metadata' ->> 'customer' = 'Bob'
        AND (snapshot #>> '{context,step,0,output,deep,0,x}')::float8 = 0.1`);
    expect(asked.rows).toEqual([{ id: "order of Bob" }]);
    const times = await pool.query(`SELECT created_at <= updated_at AS ordered FROM "${schema}".workflow_executions`);
    expect(times.rows).toEqual([{ ordered: true }, { ordered: true }]);
  });

  it("shows children, items of maps and compensations as load does, at every version", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await showsEveryVersion(store, async (id) => (await shownIn(schema, id))[0]!.snapshot);
  });

  it("shows the present run of an execution that has gone on", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await showsPresentRun(store, async (id) => (await shownIn(schema, id))[0]!.snapshot);
  });

  it("reads nothing of other executions when it is asked for one", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await Promise.all(Array.from({ length: 2000 }, (_, index) => store.create(startCommit(`id-${index}`))));
    await pool.query(`ANALYZE "${schema}".executions`);
    await pool.query(`ANALYZE "${schema}".events`);
    const { rows } = await pool.query(`EXPLAIN SELECT * FROM "${schema}".workflow_executions WHERE id = 'id-5'`);
    const scans = rows.map((row) => row["QUERY PLAN"] as string).filter((line) => /Seq Scan on (executions|events)/.test(line));
    expect(scans).toEqual([]);
  });

  it("shows nothing of what was deleted", async () => {
    const schema = freshSchema();
    const store = postgresStore(pool, { schema, migrate: true });
    await store.create(startCommit("a", { status: "completed", head: { output: "said \u0000" } }));
    await store.delete("a");
    expect(await shownIn(schema)).toEqual([]);
    const { rows } = await pool.query(`SELECT head::text, metadata::text FROM "${schema}".executions`);
    expect(rows).toEqual([{ head: "{}", metadata: "{}" }]);
  });
});
