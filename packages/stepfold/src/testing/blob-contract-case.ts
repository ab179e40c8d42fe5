import type { BlobStore } from "../ports/blob-store.ts";

/** What a case of the contract of blob stores works with: new, empty blobs for every case. */
export interface BlobBench {
  readonly blobs: BlobStore;
  /** Opens another handle on the same blobs; for blobs in memory, the same handle. */
  open(): Promise<BlobStore>;
}

/** One promise of a `BlobStore`. Plain data: any test runner, or none, can run it. */
export interface BlobContractCase {
  readonly name: string;
  /** Rejects if the promise is broken: with a ContractViolation, or with what the blob store threw. */
  run(bench: BlobBench): Promise<void>;
}
