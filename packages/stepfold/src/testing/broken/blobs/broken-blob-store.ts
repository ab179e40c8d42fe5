import type { BlobStore } from "../../../ports/blob-store.ts";

/** A plausible mistake in a blob store, which the contract must find. */
export interface BrokenBlobStore {
  readonly name: string;
  /** Name of a contract case that fails on it. */
  readonly caughtBy: string;
  /** Wraps a correct blob store into one with the mistake. */
  breaks(blobs: BlobStore): BlobStore;
}
