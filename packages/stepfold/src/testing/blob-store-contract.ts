import type { BlobContractCase } from "./blob-contract-case.ts";
import { blobByteCases } from "./contract/blobs/blob-byte-cases.ts";
import { blobFolderCases } from "./contract/blobs/blob-folder-cases.ts";
import { blobKeyCases } from "./contract/blobs/blob-key-cases.ts";
import { blobListCases } from "./contract/blobs/blob-list-cases.ts";
import { blobRaceCases } from "./contract/blobs/blob-race-cases.ts";

/**
 * Every promise of a `BlobStore`, as data. Run the cases with any test runner, each on new, empty blobs.
 *
 * A case resolves, or rejects with a `ContractViolation` that says which value is wrong, or with the blob store's own error.
 *
 * ```ts
 * import { fileBlobs } from "stepfold/stores/blobs";
 * import { blobStoreContract } from "stepfold/testing";
 *
 * for (const [index, { name, run }] of blobStoreContract.entries()) {
 *   const folder = `blobs-contract/${index}`;
 *   await run({ blobs: fileBlobs(folder), open: async () => fileBlobs(folder) });
 *   console.log(name);
 * }
 * ```
 */
export const blobStoreContract: readonly BlobContractCase[] = [
  ...blobByteCases,
  ...blobKeyCases,
  ...blobFolderCases,
  ...blobListCases,
  ...blobRaceCases,
];
