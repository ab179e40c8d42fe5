import type { SnapshotStore } from "stepfold";
import type { OpenedQueue } from "./opened-queue.ts";

/**
 * Opens `bullmq:redis://...?prefix=NAME`, `bullmq:postgres://...?schema=NAME` and `pg-boss:postgres://...?schema=NAME` as their docs say it, and
 * others as `queueFromUrl` does.
 */
export async function openQueue(text: string, store: SnapshotStore): Promise<OpenedQueue> {
  const rest = text.slice(text.indexOf(":") + 1);
  // no process loads what it does not use: many are started
  if (text.startsWith("pg-boss:")) return (await import("./open-pg-boss.ts")).openPgBoss(new URL(rest), store);
  if (text.startsWith("bullmq:")) return (await import("./open-bullmq.ts")).openBullmq(new URL(rest));
  const queue = await (await import("stepfold/queues/from-url")).queueFromUrl(text);
  return { queue, close: () => queue.close() };
}
