import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { anything, checkOptions, requireMethods } from "../../../core/values/check-arguments.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { valueStore } from "../values/value-store.ts";
import { blobCodec } from "./blob-codec.ts";
import { removalWith } from "./removal.ts";

/** Options of a store with blobs. */
export interface BlobbedStoreOptions {
  /** A value whose JSON has more bytes than this becomes a blob. Default 65,536. */
  readonly aboveBytes?: number | undefined;
}

/**
 * A store that keeps large values outside of the inner store, for example in files or in a bucket. A value is put there before the commit
 * that refers to it, under `executions/<workflowId>/<incarnation>/<number of the run>/<SHA-256>`; values of the start have no number. So a
 * commit never refers to a missing blob, and concurrent writers write the same content.
 *
 * `delete` and `prune` delete the blobs after the execution, `trim` those of the trimmed runs. Unused blobs that remain after a crash or a
 * refused commit do no harm: they are deleted with their execution, or by `collectOrphans` if it does not exist. Metadata values that are
 * text stay in the inner store, so that `list` finds them. `close()` closes the inner store.
 *
 * ```ts
 * import { blobbedStore, fileBlobs } from "stepfold/stores/blobs";
 * import { memoryStore } from "stepfold/stores/memory";
 *
 * const store = blobbedStore(memoryStore(), fileBlobs("workflow-blobs"), { aboveBytes: 100_000 });
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * ```
 *
 * If a blob cannot be put, the call rejects, usually with `STORE_UNAVAILABLE`, and the commit is not sent. Reading an execution rejects
 * with `STORE_REJECTED` if a blob is missing or was changed; the error names its key.
 *
 * @throws StepfoldError `OPTION_INVALID`
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function blobbedStore(inner: SnapshotStore, blobs: BlobStore, options: BlobbedStoreOptions = {}): SnapshotStore {
  requireMethods("blobs", blobs, "a blob store, such as fileBlobs(folder)", ["put", "get", "list"]);
  checkOptions("blobbedStore", options, { aboveBytes: anything });
  const { aboveBytes = 65_536 } = options;
  if (!Number.isInteger(aboveBytes) || aboveBytes < 0) {
    throw new StepfoldError("OPTION_INVALID", { option: "aboveBytes", reason: "must be a whole number of bytes" });
  }
  return valueStore("blobbed", inner, blobCodec(blobs, aboveBytes), { removal: removalWith(inner, blobs) });
}
