import type { SnapshotStore } from "stepfold";
import type { OpenedQueue } from "./opened-queue.ts";

/** Opens `bullmq:redis://...?prefix=NAME`, `bullmq:postgres://...?schema=NAME` or `pg-boss:postgres://...?schema=NAME`. */
export async function openQueue(text: string, store: SnapshotStore): Promise<OpenedQueue> {
  const colon = text.indexOf(":");
  const url = new URL(text.slice(colon + 1));
  // no process loads what it does not use: many are started
  if (text.slice(0, colon) === "pg-boss") return (await import("./open-pg-boss.ts")).openPgBoss(url, store);
  return (await import("./open-bullmq.ts")).openBullmq(url);
}
