import pg from "pg";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { postgresFeed } from "../../../src/feeds/postgres/index.ts";
import { migratePostgres, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { newSchema, poolOf, url } from "../postgres/postgres-bench.fixture.ts";
import { type OwnTransaction, type OwnTransactionBench, ownTransactionCases, within, worker } from "./own-transaction.fixture.ts";

const pool = poolOf(16);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

interface Bench extends OwnTransactionBench {
  begin(): Promise<OwnTransaction & { readonly client: pg.PoolClient }>;
}

async function open(): Promise<Bench> {
  const schema = newSchema();
  schemas.push(schema);
  await migratePostgres(pool, { schema });
  await pool.query(`CREATE TABLE "${schema}".notes (note text NOT NULL)`);
  return {
    store: postgresStore(pool, { schema }),
    async begin() {
      const client = await pool.connect();
      await client.query("BEGIN");
      return {
        client,
        store: postgresStore(client, { schema }),
        insert: async (note) => void (await client.query(`INSERT INTO "${schema}".notes VALUES ($1)`, [note])),
        async end(how) {
          expect((await client.query(how)).command).toBe(how);
          client.release();
        },
      };
    },
    async notes() {
      const { rows } = await pool.query<{ note: string }>(`SELECT note FROM "${schema}".notes ORDER BY note`);
      return rows.map(({ note }) => note);
    },
  };
}

ownTransactionCases("PostgreSQL", url !== null, open);

describe.skipIf(url === null)("a feed on PostgreSQL over the connection of the transaction", () => {
  /** Opens a worker that only the feed wakes, and returns a feed for a transaction. */
  async function told() {
    const bench = await open();
    const channel = `own_${process.pid}_${schemas.length}`;
    const listener = (): pg.Client => new pg.Client({ connectionString: url! });
    const heard: unknown[] = [];
    const feed = postgresFeed(pool, listener, { channel });
    const subscription = await feed.listen((notices) => heard.push(...notices), { onEnd: () => undefined });
    const takes = worker(bench, { feed, pollMs: 600_000 });
    onTestFinished(async () => {
      await takes.close();
      await subscription.close();
      await feed.close();
    });
    const of = (own: { readonly client: pg.PoolClient }) => postgresFeed(own.client, listener, { channel });
    const due = (): unknown[] => heard.filter((notice) => (notice as { readonly kind: string }).kind === "due");
    return { bench, takes, of, due };
  }

  it("tells of a start once it is committed", async () => {
    const { bench, takes, of, due } = await told();
    const own = await bench.begin();
    const runtime = within(own, { feed: of(own) });
    await runtime.start("note", { workflowId: "o-1", input: "told" });
    await runtime.close();
    expect((await own.client.query("SHOW synchronous_commit")).rows).toEqual((await pool.query("SHOW synchronous_commit")).rows);
    expect(due()).toEqual([]);
    await own.end("COMMIT");
    expect(await (await takes.get("o-1")).result({ timeoutMs: 10_000 })).toBe("told");
    expect(due()).toMatchObject([{ workflowId: "o-1" }]);
  });

  it("tells nothing of what is rolled back", async () => {
    const { bench, takes, of, due } = await told();
    for (const [id, end] of [
      ["gone", "ROLLBACK"],
      ["kept", "COMMIT"],
    ] as const) {
      const own = await bench.begin();
      const runtime = within(own, { feed: of(own) });
      await runtime.start("note", { workflowId: id, input: id });
      await runtime.close();
      await own.end(end);
    }
    expect(await (await takes.get("kept")).result({ timeoutMs: 10_000 })).toBe("kept");
    // notices come in the order of their commits
    expect(due()).toMatchObject([{ workflowId: "kept" }]);
  });
});
