import { describe, expect, it } from "vitest";
import { blobContractOf } from "../../test/testing/blob-contract.fixture.ts";
import { rightBlobs } from "../../test/testing/memory-blobs.fixture.ts";
import { blobStoreContract, brokenBlobStores } from "./index.ts";

blobContractOf("memory", {
  async bench() {
    const blobs = rightBlobs();
    return { blobs, open: async () => blobs };
  },
});

describe("the contract of BlobStore", () => {
  const byName = new Map(blobStoreContract.map((contractCase) => [contractCase.name, contractCase]));

  for (const { name, caughtBy, breaks } of brokenBlobStores) {
    it(`notices a blob store that ${name}`, async () => {
      const right = rightBlobs();
      const contractCase = byName.get(caughtBy)!;
      await expect(contractCase.run({ blobs: breaks(right), open: async () => breaks(right) })).rejects.toThrow();
    });
  }

  it("has a name of its own for every case, and a broken blob store", () => {
    expect(byName.size).toBe(blobStoreContract.length);
    expect([...byName.keys()].filter((name) => !brokenBlobStores.some(({ caughtBy }) => caughtBy === name))).toEqual([]);
  });
});
