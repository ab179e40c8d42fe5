import type { BlobStore } from "../ports/blob-store.ts";

/** What a case of the blobs' contract works with: new, empty blobs for every case. */
export interface BlobBench {
  readonly blobs: BlobStore;
  /** Another handle on the same blobs; for what lives in memory, the same. */
  open(): Promise<BlobStore>;
}

/** One promise of a `BlobStore`. Plain data: any test runner, or none, can run it. */
export interface BlobContractCase {
  readonly name: string;
  /** Rejects if the promise is broken: with a ContractViolation, or with what the blob store threw. */
  run(bench: BlobBench): Promise<void>;
}
