import { Pool } from "pg";
import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import { migratePostgres, type PostgresClient, postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { type StoreBench, snapshotStoreContract } from "../../../src/testing/index.ts";
import { wait } from "../../testing/store-contract.fixture.ts";

/** The URL of PostgreSQL; null if no server answers. */
export const url: string | null = await serviceUrl("postgres");

/** The tests end processes and connections, never the machine, so a commit need not wait until it is on the disk. */
const options = "-c synchronous_commit=off";

/** Makes a pool that survives the loss of its connections. */
export function poolOf(max: number, name = "stepfold tests"): Pool {
  const pool = new Pool({ ...(url !== null && { connectionString: url }), max, application_name: name, options });
  pool.on("error", () => undefined);
  return pool;
}

const tables = ["executions", "events", "children", "records", "blobs"];

let schemas = 0;
/** Makes a name of a schema that no other test uses. */
export function newSchema(): string {
  return `test_${process.pid}_${++schemas}_${Math.trunc(performance.timeOrigin % 1e9)}`;
}

/** Makes stores, each on its own schema. `drop` drops all these schemas. */
export interface Benches {
  bench(index: number): Promise<StoreBench & { readonly schema: string }>;
  drop(): Promise<void>;
}

/**
 * Makes benches over a client. When a store is closed, its schema is emptied and used again, because making a schema takes longer.
 *
 * @param admin makes, empties and drops the schemas
 * @param cuttable true: the case about cut connections gets its own pool
 */
export function benchesOver(client: PostgresClient, admin: PostgresClient = client, cuttable = false): Benches {
  const made: string[] = [];
  const free: string[] = [];
  const pools: Pool[] = [];
  const makeSchema = async (): Promise<string> => {
    const schema = newSchema();
    made.push(schema);
    // the schema is made over another connection, so that the renewal of leases does not wait for it
    await migratePostgres(admin, { schema });
    return schema;
  };
  const empty = async (schema: string): Promise<void> => {
    const deletions = tables.map((table) => `${table} AS (DELETE FROM "${schema}".${table})`);
    await admin.query(`WITH ${deletions.join(", ")} SELECT`, []);
    free.push(schema);
  };
  const damage = (schema: string) => async (workflowId: string) => {
    await admin.query(`UPDATE "${schema}".executions SET head = 'null' WHERE id = $1`, [workflowId]);
  };
  return {
    async bench(index) {
      const schema = free.pop() ?? (await makeSchema());
      const own = cuttable && snapshotStoreContract[index]?.needs === "cut" ? poolOf(4, schema) : null;
      if (own) pools.push(own);
      const open = () => postgresStore(own ?? client, { schema, idempotencyRetentionMs: 3_000 });
      const store = open();
      // a case closes only handles that it has opened itself, so this runs once, when the case is over
      const close = async (): Promise<void> => {
        await store.close();
        await empty(schema);
      };
      const bench = {
        schema,
        store: { ...store, close },
        retentionMs: 3_000,
        open: async () => open(),
        advance: wait,
        damage: damage(schema),
      };
      if (!own) return bench;
      const cut = async (): Promise<void> => {
        await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [schema]);
      };
      return { ...bench, cut };
    },
    async drop() {
      for (const pool of pools) await pool.end();
      for (const schema of made) await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`, []);
    },
  };
}
