import type { BlobStore } from "../../../ports/blob-store.ts";

/** A plausible mistake in a blob store: what the contract must catch. */
export interface BrokenBlobStore {
  readonly name: string;
  /** Name of a contract case that fails on it. */
  readonly caughtBy: string;
  /** A blob store with the mistake, over one without. */
  breaks(blobs: BlobStore): BlobStore;
}
