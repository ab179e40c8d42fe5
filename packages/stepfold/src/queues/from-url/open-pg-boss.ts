import { parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { PgBossClient } from "../pg-boss/pg-boss-client.ts";
import type { QueueAndClient } from "./queue-and-client.ts";

interface Driver {
  readonly PgBoss: new (config: {
    connectionString: string;
    schema: string;
  }) => PgBossClient & {
    on(event: "error", listener: () => void): unknown;
    start(): Promise<unknown>;
    stop(options?: { readonly graceful: boolean }): Promise<void>;
  };
}

/** Opens `pg-boss:postgres://user:password@host/database?queue=stepfold&schema=pgboss`, with the package `pg-boss`. */
export async function openPgBoss(text: string): Promise<QueueAndClient> {
  const { url, taken } = takeParameters(text.slice("pg-boss:".length), { queue: "stepfold", schema: "pgboss" });
  parsedUrl(url, "queue"); // refuses what is no URL
  const { pgBossQueue } = await import("../pg-boss/pg-boss-queue.ts");
  const { PgBoss } = await importDriver<Driver>("pg-boss", { queue: "pg-boss" });
  const boss = new PgBoss({ connectionString: url, schema: taken.schema });
  // without a listener, an error of a lost connection would end the process
  boss.on("error", () => undefined);
  try {
    await boss.start();
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    throw error;
  }
  return { queue: pgBossQueue(boss, { name: taken.queue }), closeClient: () => boss.stop() };
}
