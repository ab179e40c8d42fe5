import { aFlag, aFunction, aTime, checkOptions, requireMethods, requireStore } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { incarnationOf } from "../values/read-all.ts";
import { segmentOf, textOfSegment } from "./blob-key.ts";

/** Options of `collectOrphans`. */
export interface CollectOptions {
  /**
   * If any blob of an execution is younger than this, in milliseconds, all its blobs stay, because the commit that refers to the young one
   * may still be in flight. Default 1 day.
   */
  readonly graceMs?: number | undefined;
  /** The clock that `writtenAt` of blobs is compared with, in epoch milliseconds. Default `Date.now`. */
  readonly now?: (() => EpochMs) | undefined;
  /** True: only counts, and deletes nothing. */
  readonly dryRun?: boolean | undefined;
}

/** What was deleted, or would be deleted in a dry run. */
export interface CollectReport {
  /** The number of missing executions whose blobs were deleted. */
  readonly executions: number;
  /** The number of their blobs. */
  readonly blobs: number;
}

/**
 * Deletes the blobs of executions that do not exist: a crash between the deletions of an execution and of its blobs leaves them, and so
 * does the refused start of an execution. It lists all blobs. Executions whose ids have more than 200 characters when percent-encoded are
 * skipped, and so are definitions, which stay for ever.
 *
 * ```ts
 * import { collectOrphans, fileBlobs } from "stepfold/stores/blobs";
 * import { memoryStore } from "stepfold/stores/memory";
 *
 * const { blobs } = await collectOrphans(memoryStore(), fileBlobs("workflow-blobs"), { dryRun: true });
 * console.log(blobs); // 0
 * ```
 *
 * @param store the store that the blobs belong to; it must contain every execution that has blobs there
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export async function collectOrphans(store: SnapshotStore, blobs: BlobStore, options: CollectOptions = {}): Promise<CollectReport> {
  requireStore("store", store);
  requireMethods("blobs", blobs, "a blob store, such as fileBlobs(folder)", ["list"]);
  checkOptions("collectOrphans", options, { graceMs: aTime, now: aFunction, dryRun: aFlag });
  const { graceMs = 24 * 60 * 60 * 1000, now = Date.now, dryRun = false } = options;
  const youngest = now() - graceMs;
  const folders = new Map<string, { count: number; writtenAt: EpochMs }>();
  for await (const { key, writtenAt } of blobs.list()) {
    const [kind, id, incarnation] = key.split("/");
    if (kind !== "executions" || incarnation === undefined) continue;
    const folder = `${kind}/${id}/${incarnation}`;
    const before = folders.get(folder);
    folders.set(folder, { count: (before?.count ?? 0) + 1, writtenAt: Math.max(before?.writtenAt ?? 0, writtenAt) });
  }
  let executions = 0;
  let deleted = 0;
  for (const [folder, { count, writtenAt }] of folders) {
    if (writtenAt > youngest || !(await isOrphaned(store, folder))) continue;
    if (!dryRun) await blobs.deleteFolder(folder);
    executions += 1;
    deleted += count;
  }
  return { executions, blobs: deleted };
}

async function isOrphaned(store: SnapshotStore, folder: string): Promise<boolean> {
  const [, id, incarnation] = folder.split("/");
  const workflowId = textOfSegment(id!);
  if (workflowId === null) return false;
  const stored = await incarnationOf(store, workflowId);
  return stored === null || (await segmentOf(stored)) !== incarnation;
}
