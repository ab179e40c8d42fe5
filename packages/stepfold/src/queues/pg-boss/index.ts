export type { PgBossClient, PgBossInsert, PgBossJob, PgBossJobSettings, PgBossQueueSettings } from "./pg-boss-client.ts";
export { type PgBossQueueOptions, pgBossQueue } from "./pg-boss-queue.ts";
