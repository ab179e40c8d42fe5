import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { valueStore } from "../values/value-store.ts";
import { blobCodec } from "./blob-codec.ts";
import { removalWith } from "./removal.ts";

/** Which values become blobs. */
export interface BlobbedStoreOptions {
  /** Values whose JSON has more bytes than this. Default 65,536. */
  readonly aboveBytes?: number;
}

/**
 * A store that keeps large values outside of another store: in files, in a bucket. They are put there before the commit
 * that refers to them, under `executions/<workflowId>/<incarnation>/<SHA-256>`, so a commit never refers to what is not
 * there, and writers that race write the same.
 *
 * `delete` and `prune` delete the blobs afterwards. What a crash in between, or a commit that was refused, leaves behind
 * harms nothing; `collectOrphans` removes it. Metadata that is text stays in the store, so that `list` finds it.
 * `close()` closes the store below.
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
 * A blob that cannot be put is `STORE_UNAVAILABLE`, and the commit is not sent. Reading rejects with `STORE_REJECTED` if
 * one is missing or is not what was put; the error names its key.
 *
 * @throws StepfoldError `OPTION_INVALID`
 */
export function blobbedStore(inner: SnapshotStore, blobs: BlobStore, { aboveBytes = 65_536 }: BlobbedStoreOptions = {}): SnapshotStore {
  if (!Number.isInteger(aboveBytes) || aboveBytes < 0) {
    throw new StepfoldError("OPTION_INVALID", { option: "aboveBytes", reason: "must be a whole number of bytes" });
  }
  return valueStore("blobbed", inner, blobCodec(blobs, aboveBytes), { removal: removalWith(inner, blobs) });
}
