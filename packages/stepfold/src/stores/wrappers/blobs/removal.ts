import type { BlobStore } from "../../../ports/blob-store.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../../kit/checked-query.ts";
import type { StoreMethods } from "../../kit/checked-store.ts";
import { incarnationOf, listExecutions, longestUnchangedFirst } from "../values/read-all.ts";
import { pruneOptions } from "../values/value-store.ts";
import { folderOf } from "./blob-codec.ts";

/** An execution whose blobs may have to be deleted. */
interface Candidate {
  readonly workflowId: string;
  readonly incarnation: string;
}

/** Deletes executions, and then their blobs. In the other order a crash would leave executions that cannot be read. */
export function removalWith(inner: SnapshotStore, blobs: BlobStore): Pick<StoreMethods, "delete" | "prune"> {
  const removeBlobs = async ({ workflowId, incarnation }: Candidate): Promise<void> => {
    try {
      await blobs.deleteFolder(await folderOf({ kind: "execution", id: workflowId, incarnation }));
    } catch {
      // the execution is deleted, as the caller wanted; `collectOrphans` deletes the blobs
    }
  };
  return {
    async delete(workflowId) {
      const incarnation = await incarnationOf(inner, workflowId);
      await inner.delete(workflowId);
      if (incarnation !== null) await removeBlobs({ workflowId, incarnation });
    },
    async prune(options) {
      const candidates = options.dryRun ? [] : await candidatesOf(inner, options);
      const report = await inner.prune(pruneOptions(options));
      for (const candidate of candidates) {
        if ((await incarnationOf(inner, candidate.workflowId)) !== candidate.incarnation) await removeBlobs(candidate);
      }
      return report;
    },
  };
}

/** Finds what a prune is going to delete, as far as the store tells: executions that have ended, the longest unchanged first. */
async function candidatesOf(inner: SnapshotStore, { before, definitionId, statuses, limit }: CheckedPrune): Promise<Candidate[]> {
  const filter = { status: statuses, createdBefore: before, ...(definitionId !== null && { definitionId }) };
  const ended = longestUnchangedFirst((await listExecutions(inner, filter)).filter(({ updatedAt }) => updatedAt < before));
  const candidates: Candidate[] = [];
  for (const { workflowId } of ended.slice(0, limit)) {
    const incarnation = await incarnationOf(inner, workflowId);
    if (incarnation !== null) candidates.push({ workflowId, incarnation });
  }
  return candidates;
}
