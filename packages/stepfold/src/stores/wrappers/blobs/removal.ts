import type { BlobStore } from "../../../ports/blob-store.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { DeletedExecution } from "../../../ports/store-removal.ts";
import type { StoreMethods } from "../../kit/checked-store.ts";
import { incarnationOf } from "../values/read-all.ts";
import { removalOptions } from "../values/value-store.ts";
import { folderOf } from "./blob-codec.ts";

/** Deletes executions, or their events, first and then the blobs: in the other order a crash would leave what cannot be read. */
export function removalWith(inner: SnapshotStore, blobs: BlobStore): Pick<StoreMethods, "delete" | "prune" | "trim"> {
  const removeFolder = async ({ workflowId, incarnation }: DeletedExecution, below = ""): Promise<void> => {
    try {
      await blobs.deleteFolder((await folderOf({ kind: "execution", id: workflowId, incarnation })) + below);
    } catch {
      // ignored, because the execution or its events are deleted: the blobs are deleted with the execution, or by `collectOrphans`
    }
  };
  return {
    async delete(workflowId) {
      const incarnation = await incarnationOf(inner, workflowId);
      await inner.delete(workflowId);
      if (incarnation !== null) await removeFolder({ workflowId, incarnation });
    },
    async prune(options) {
      const report = await inner.prune(removalOptions(options));
      if (!options.dryRun) for (const deleted of report.deleted) await removeFolder(deleted);
      return report;
    },
    async trim(options) {
      const wanted = removalOptions(options);
      const first = new Map<string, number>();
      for (const { workflowId } of (await inner.trim({ ...wanted, dryRun: true })).trimmed) {
        first.set(workflowId, await runAfterFirstEvent(inner, workflowId));
      }
      const report = await inner.trim(wanted);
      for (const trimmed of options.dryRun ? [] : report.trimmed) {
        // each run has its blobs in a folder of its own, and no commit of a later run refers to them
        const end = await runAfterFirstEvent(inner, trimmed.workflowId);
        for (let run = first.get(trimmed.workflowId) ?? 1; run < end; run++) await removeFolder(trimmed, `/${run}`);
      }
      return report;
    },
  };
}

/** Returns the number of the first run whose events are stored, besides the first event. */
async function runAfterFirstEvent(inner: SnapshotStore, workflowId: string): Promise<number> {
  const [row] = await inner.events(workflowId, 0, 1);
  return row?.event.type === "continued" ? row.event.run : 1;
}
