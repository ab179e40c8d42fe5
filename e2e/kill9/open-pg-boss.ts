import { PgBoss } from "pg-boss";
import type { SnapshotStore } from "stepfold";
import { pgBossQueue } from "stepfold/queues/pg-boss";
import { postgresPlace } from "./open-store.ts";
import type { OpenedQueue } from "./opened-queue.ts";

/**
 * Makes a pg-boss with fewer connections than by default, because there are many processes, and with shorter intervals, so that dead
 * consumers are noticed within the run.
 */
export function newBoss(url: URL): PgBoss {
  const schema = url.searchParams.get("schema")!;
  const boss = new PgBoss({ ...postgresPlace(url), schema, max: 3, superviseIntervalSeconds: 10, monitorIntervalSeconds: 10 });
  boss.on("error", () => undefined);
  return boss;
}

/** Opens the queue as docs/queues/pg-boss.md says. */
export async function openPgBoss(url: URL, store: SnapshotStore): Promise<OpenedQueue> {
  const boss = newBoss(url);
  await boss.start();
  // here a PostgreSQL store is in the same database as the queue, so wake-ups are sent in the transaction of the commit
  const queue = pgBossQueue(boss, { sharesStoreDatabase: store.features.transactions === "postgres" });
  const close = async (): Promise<void> => {
    await queue.close();
    await boss.stop();
  };
  return { queue, close };
}
