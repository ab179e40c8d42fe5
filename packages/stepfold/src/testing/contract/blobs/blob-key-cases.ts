import type { BlobContractCase } from "../../blob-contract-case.ts";
import { equal } from "../../expectations.ts";
import { expectBytes, keysIn, named, putAll } from "./blob-content.ts";

/** Keys that a database might take for patterns, or confuse with one another. */
const lookalikes = [
  "x_y",
  "x%y",
  "x~y",
  "x.y",
  "x-y",
  "xzy",
  "x%5Fy",
  "_",
  "__",
  "%",
  "%%",
  "~",
  "-",
  "0",
  "00",
  "a.",
  "a..",
  "constructor",
];

/** What `BlobStore` promises about keys. */
export const blobKeyCases: readonly BlobContractCase[] = [
  {
    name: "keys: every character stands for itself",
    async run({ blobs }) {
      const keys = lookalikes.map((segment) => `a/${segment}`);
      await putAll(blobs, keys);
      for (const key of keys) await expectBytes(blobs, key, named(key));
      equal(await keysIn(blobs), keys.toSorted(), "keys");
      equal(await blobs.get("a/xAy"), null, "what was never put");
    },
  },
  {
    name: "keys: the same in another case is another key",
    async run({ blobs }) {
      const keys = ["a/order", "a/Order", "a/ORDER", "A/order"];
      await putAll(blobs, keys);
      for (const key of keys) await expectBytes(blobs, key, named(key));
      equal(await keysIn(blobs), keys.toSorted(), "keys");
    },
  },
  {
    name: "keys: the longest differ in their last character",
    async run({ blobs }) {
      const keys = [
        ...["x", "y"].map((last) => `a/${"s".repeat(254)}${last}`),
        ...["x", "y"].map((last) => `${Array.from({ length: 9 }, () => "s".repeat(90)).join("/")}/${"s".repeat(80)}${last}`),
      ];
      equal(Math.max(...keys.map(({ length }) => length)), 900, "the longest key");
      await putAll(blobs, keys);
      for (const key of keys) await expectBytes(blobs, key, named(key));
      equal(await keysIn(blobs), keys.toSorted(), "keys");
    },
  },
  {
    name: "keys: one segment is enough",
    async run({ blobs }) {
      await putAll(blobs, ["alone"]);
      await expectBytes(blobs, "alone", named("alone"));
    },
  },
];
