import type { BlobContractCase } from "../../blob-contract-case.ts";
import { equal } from "../../expectations.ts";
import { expectBytes, keysIn, randomBytes } from "./blob-content.ts";

/** What `put` and `get` promise of the bytes. */
export const blobByteCases: readonly BlobContractCase[] = [
  {
    name: "get: null for what was never put",
    async run({ blobs }) {
      equal(await blobs.get("a/b"), null, "blob");
    },
  },
  {
    name: "put: every byte comes back as it is",
    async run({ blobs }) {
      const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      await blobs.put("a/b", every);
      await expectBytes(blobs, "a/b", every);
      await blobs.put("a/c", every.toReversed());
      await expectBytes(blobs, "a/c", every.toReversed());
    },
  },
  {
    name: "put: a part of a larger buffer is that part",
    async run({ blobs }) {
      const whole = randomBytes(1000);
      await blobs.put("a/b", whole.subarray(100, 200));
      await expectBytes(blobs, "a/b", whole.slice(100, 200));
    },
  },
  {
    name: "put: no bytes at all are a blob, too",
    async run({ blobs }) {
      await blobs.put("a/b", new Uint8Array());
      await expectBytes(blobs, "a/b", new Uint8Array());
      equal(await keysIn(blobs), ["a/b"], "keys");
    },
  },
  {
    name: "put: five megabytes come back",
    async run({ blobs }) {
      const large = randomBytes(5_000_000);
      await blobs.put("a/b", large);
      await expectBytes(blobs, "a/b", large);
    },
  },
  {
    name: "put: the same again is no mistake, and one blob",
    async run({ blobs }) {
      const bytes = randomBytes(1000);
      for (let count = 0; count < 3; count++) await blobs.put("a/b", bytes);
      await expectBytes(blobs, "a/b", bytes);
      equal(await keysIn(blobs), ["a/b"], "keys");
    },
  },
  {
    name: "put: what becomes of the bytes afterwards changes nothing",
    async run({ blobs }) {
      const bytes = randomBytes(1000);
      await blobs.put("a/b", bytes);
      bytes.fill(0);
      await expectBytes(blobs, "a/b", randomBytes(1000));
      (await blobs.get("a/b"))!.fill(0);
      await expectBytes(blobs, "a/b", randomBytes(1000));
    },
  },
  {
    name: "put: what is there is there for another handle",
    async run({ blobs, open }) {
      const bytes = randomBytes(1000);
      await blobs.put("a/b", bytes);
      const other = await open();
      await expectBytes(other, "a/b", bytes);
      equal(await keysIn(other), ["a/b"], "keys of the other handle");
    },
  },
];
