import type { BlobStore } from "../../../ports/blob-store.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { CheckedPrune, StoreMethods } from "../../kit/checked-store.ts";
import { incarnationOf, pruneOptions } from "../values/value-store.ts";
import { folderOf } from "./blob-codec.ts";

/** An execution whose blobs may have to go. */
interface Candidate {
  readonly workflowId: string;
  readonly incarnation: string;
}

/** Deletes executions, and then their blobs: the other way round a crash would leave executions that cannot be read. */
export function removalWith(inner: SnapshotStore, blobs: BlobStore): Pick<StoreMethods, "delete" | "prune"> {
  const removeBlobs = async ({ workflowId, incarnation }: Candidate): Promise<void> => {
    try {
      await blobs.deleteFolder(await folderOf({ kind: "execution", id: workflowId, incarnation }));
    } catch {
      // the execution is gone, which is what was asked for; what stays is an orphan
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

/** What a prune will take, as far as the port tells: ended, and last changed before; the oldest first. */
async function candidatesOf(inner: SnapshotStore, { before, definitionId, statuses, limit }: CheckedPrune): Promise<Candidate[]> {
  const found: { readonly workflowId: string; readonly updatedAt: number }[] = [];
  const query = { status: statuses, createdBefore: before, limit: 1000, ...(definitionId !== null && { definitionId }) };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await inner.list(cursor === undefined ? query : { ...query, cursor });
    found.push(...page.items.filter(({ updatedAt }) => updatedAt < before));
    cursor = page.nextCursor;
  }
  const oldest = found.reverse().sort((a, b) => a.updatedAt - b.updatedAt);
  const candidates: Candidate[] = [];
  for (const { workflowId } of oldest.slice(0, limit)) {
    const incarnation = await incarnationOf(inner, workflowId);
    if (incarnation !== null) candidates.push({ workflowId, incarnation });
  }
  return candidates;
}
