import type { BlobStore } from "../../../ports/blob-store.ts";
import type { DeletedExecution, SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { StoreMethods } from "../../kit/checked-store.ts";
import { incarnationOf } from "../values/read-all.ts";
import { pruneOptions } from "../values/value-store.ts";
import { folderOf } from "./blob-codec.ts";

/** Deletes executions first and then their blobs: in the other order a crash would leave executions that cannot be read. */
export function removalWith(inner: SnapshotStore, blobs: BlobStore): Pick<StoreMethods, "delete" | "prune"> {
  const removeBlobs = async ({ workflowId, incarnation }: DeletedExecution): Promise<void> => {
    try {
      await blobs.deleteFolder(await folderOf({ kind: "execution", id: workflowId, incarnation }));
    } catch {
      // ignored, because the execution itself is deleted; `collectOrphans` deletes the blobs later
    }
  };
  return {
    async delete(workflowId) {
      const incarnation = await incarnationOf(inner, workflowId);
      await inner.delete(workflowId);
      if (incarnation !== null) await removeBlobs({ workflowId, incarnation });
    },
    async prune(options) {
      const report = await inner.prune(pruneOptions(options));
      if (!options.dryRun) for (const deleted of report.deleted) await removeBlobs(deleted);
      return report;
    },
  };
}
