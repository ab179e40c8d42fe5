import type { SnapshotStore } from "stepfold";
import type { OpenedQueue } from "./opened-queue.ts";

/**
 * Opens `bullmq:redis://...?prefix=NAME`, `bullmq:postgres://...?schema=NAME` and `pg-boss:postgres://...?schema=NAME` as their docs
 * say, and other URLs with `queueFromUrl`.
 */
export async function openQueue(text: string, store: SnapshotStore): Promise<OpenedQueue> {
  const rest = text.slice(text.indexOf(":") + 1);
  // a process loads only the module that it uses, because many processes are started
  if (text.startsWith("pg-boss:")) return (await import("./open-pg-boss.ts")).openPgBoss(new URL(rest), store);
  if (text.startsWith("bullmq:")) return (await import("./open-bullmq.ts")).openBullmq(new URL(rest));
  const queue = await (await import("stepfold/queues/from-url")).queueFromUrl(text);
  return { queue, close: () => queue.close() };
}
