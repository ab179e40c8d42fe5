import { describe, it } from "vitest";
import { effort } from "../../../../scripts/test/effort.ts";
import { type BlobBench, blobStoreContract } from "../../src/testing/index.ts";
import { meetsNoServer } from "./no-server.fixture.ts";

/** Blobs that the contract runs on. */
export interface BlobSubject {
  /** Null if the server they need does not answer: then nothing runs, loudly, or fails with REQUIRE_SERVICES=1. */
  readonly url?: string | null;
  /** New, empty blobs for a case. The index is that of the case. */
  readonly bench: (index: number) => Promise<BlobBench & { readonly close?: () => Promise<void> }>;
  /** The same blobs through another client: left to `npm run contract` and `npm run storm`. */
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
