import { randomUUID } from "node:crypto";
import pg from "pg";
import { postgresStore } from "stepfold/stores/postgres";
import { serviceUrl } from "../../scripts/servers/service-url.ts";
import { byTurns, durableSteps, rawWrites } from "../by-turns.ts";
import type { Group } from "../group.ts";
import type { Sample } from "../measure.ts";
import { PeerMissing } from "../peer.ts";

const rows = 1_000;
const text = JSON.stringify({ data: "x".repeat(1013) });

/**
 * Returns a function that updates `together` rows of 1 KB in one statement. Each update expects the row's current version, and finds
 * it.
 */
async function rawRows(client: pg.Client, schema: string, together: number): Promise<() => Promise<number>> {
  await client.query(
    `CREATE TABLE ${schema}.raw (id integer PRIMARY KEY, version bigint NOT NULL, data text NOT NULL) WITH (fillfactor = 50)`,
  );
  await client.query(`INSERT INTO ${schema}.raw SELECT n, 0, $1 FROM generate_series(0, ${rows - 1}) AS n`, [text]);
  const versions = new Float64Array(rows);
  let next = 0;
  return async () => {
    const ids = Array.from({ length: together }, () => next++ % rows);
    const values = [ids, ids.map((id) => versions[id]!++), ids.map(() => text)];
    const { rowCount } = await client.query({
      name: "raw",
      text: `UPDATE ${schema}.raw SET version = raw.version + 1, data = given.data
        FROM unnest($1::int[], $2::bigint[], $3::text[]) AS given (id, version, data) WHERE raw.id = given.id AND raw.version = given.version`,
      values,
    });
    if (rowCount !== together) throw new TypeError(`${rowCount} rows of ${together} were written`);
    return together;
  };
}

async function measured(concurrency: number): Promise<Sample> {
  const url = await serviceUrl("postgres");
  if (url === null) throw new PeerMissing("postgres");
  const schema = `bench_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const client = new pg.Client(url);
  await client.connect();
  const store = postgresStore(pool, { schema, migrate: true });
  await store.list({ limit: 1 });
  const write = await rawRows(client, schema, concurrency);
  const [stepfold = 0, raw = 0] = await byTurns([durableSteps(store, concurrency), rawWrites(write)]);
  await store.close();
  await client.query(`DROP SCHEMA ${schema} CASCADE`);
  await client.end();
  await pool.end();
  return { stepfold, raw };
}

/** Durable steps on PostgreSQL. */
export const postgres: Group = {
  cases: {
    "1-at-once": { sample: () => measured(1) },
    "50-at-once": { sample: () => measured(50) },
  },
  rows: [
    {
      work: "durable steps on PostgreSQL, 1 execution at once",
      figure: { of: "1-at-once", key: "stepfold" },
      unit: "steps/s",
      reference: { name: "raw conditional updates of one 1 KB row, one connection", figure: { of: "1-at-once", key: "raw" } },
      target: { of: "ratio", atLeast: 0.6 },
    },
    {
      work: "durable steps on PostgreSQL, 50 executions at once",
      figure: { of: "50-at-once", key: "stepfold" },
      unit: "steps/s",
      reference: { name: "raw conditional updates of 50 1 KB rows, one connection", figure: { of: "50-at-once", key: "raw" } },
    },
  ],
};
