import { describe, it } from "vitest";
import { effort } from "../../../../scripts/test/effort.ts";
import { type BlobBench, blobStoreContract } from "../../src/testing/index.ts";
import { meetsNoServer } from "./no-server.fixture.ts";

/** A blob store that the contract runs on. */
export interface BlobSubject {
  /** The URL of the server. Null if the server does not answer: the tests are skipped with a message, or fail with REQUIRE_SERVICES=1. */
  readonly url?: string | null;
  /** Makes a new, empty blob store for the case with this index. */
  readonly bench: (index: number) => Promise<BlobBench & { readonly close?: () => Promise<void> }>;
  /** True: the same blobs through another client. The contract then runs only in `npm run contract` and `npm run storm`. */
  readonly isOtherForm?: true;
}

/** Runs the whole contract on a blob store. */
export function blobContractOf(name: string, { url = "", bench, isOtherForm }: BlobSubject): void {
  if (isOtherForm && !effort.everyForm) return;
  describe(`BlobStore contract: ${name}`, () => {
    if (url === null) {
      meetsNoServer(name);
      return;
    }
    for (const [index, contractCase] of blobStoreContract.entries()) {
      it(contractCase.name, async () => {
        const opened = await bench(index);
        try {
          await contractCase.run(opened);
        } finally {
          await opened.close?.();
        }
      });
    }
  });
}
