import { Pool } from "pg";
import { PgBoss } from "pg-boss";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { pgBossQueue } from "../../src/queues/pg-boss/index.ts";
import { inTransaction } from "../../src/stores/databases/postgres/postgres-client.ts";
import type { QueueBench } from "../../src/testing/index.ts";
import { wait } from "../testing/store-contract.fixture.ts";

/** The URL of PostgreSQL; null if no server answers. */
export const url: string | null = await serviceUrl("postgres");

let queues = 0;

/** Makes instances of pg-boss that use one new schema. */
export interface BossServer {
  readonly schema: string;
  readonly pool: Pool;
  /** Starts an instance of pg-boss, as each process has one. After `cut` its queries are never answered, as in a process that died. */
  boss(): Promise<{ readonly boss: PgBoss; cut(): void }>;
  bench(): Promise<QueueBench & { readonly close: () => Promise<void> }>;
  /** Drops the schema and closes the pool. */
  close(): Promise<void>;
}

/** Makes a server whose instances share one pool of `max` connections. */
export function bossServer(max = 10): BossServer {
  const schema = `pgboss_test_${process.pid}_${Math.trunc(performance.timeOrigin % 1e9)}`;
  const pool = new Pool({ ...(url !== null && { connectionString: url }), max });
  const running: PgBoss[] = [];
  let first: Promise<unknown> | null = null;

  const start = async () => {
    let isCut = false;
    const db = {
      executeSql: (text: string, values?: unknown[]) => (isCut ? new Promise<never>(() => undefined) : pool.query(text, values)),
    };
    const boss = new PgBoss({ db, schema, schedule: false, superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 });
    boss.on("error", () => undefined);
    await boss.start();
    running.push(boss);
    const cut = (): void => {
      isCut = true;
    };
    return { boss, cut };
  };
  const boss = async () => {
    // the first instance makes the tables
    first ??= start();
    await first;
    return start();
  };
  return {
    schema,
    pool,
    boss,
    async bench() {
      const name = `queue-${++queues}`;
      const cuts = new Map<WorkQueue, () => void>();
      const open = async (): Promise<WorkQueue> => {
        const one = await boss();
        const queue = pgBossQueue(one.boss, { name, pollMs: 200, retryDelaySeconds: 1, sharesStoreDatabase: true });
        cuts.set(queue, one.cut);
        return queue;
      };
      return {
        queue: await open(),
        open,
        advance: wait,
        leaseMs: 10_000,
        patienceMs: 3_000,
        noticeMs: 16_000,
        kill: async (queue) => cuts.get(queue)?.(),
        transact: (work) => inTransaction(pool, 3_500, work),
        async close() {
          for (const cut of cuts.values()) cut();
        },
      };
    },
    async close() {
      if (first) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await pool.end();
    },
  };
}
