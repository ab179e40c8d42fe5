import type { BlobStore } from "../../../ports/blob-store.ts";
import type { BlobContractCase } from "../../blob-contract-case.ts";
import { equal } from "../../expectations.ts";
import { expectBytes, keysIn, named, putAll } from "./blob-content.ts";

/** What `deleteFolder` promises. */
export const blobFolderCases: readonly BlobContractCase[] = [
  {
    name: "deleteFolder: all that is in it is gone, however deep",
    run: ({ blobs }) => deleting(blobs, "a/b", ["a/b/1", "a/b/2", "a/b/c/1", "a/b/c/d/e/f/g/h/i"], ["a/x/1"]),
  },
  {
    name: "deleteFolder: what only begins like it stays",
    run: ({ blobs }) =>
      deleting(blobs, "a/b", ["a/b/1"], ["a/bc/1", "a/b-/1", "a/b.x/1", "a/b0/1", "a/b_/1", "a/b~/1", "a/b%/1", "ab/b/1"]),
  },
  {
    name: "deleteFolder: what has its name elsewhere stays",
    run: ({ blobs }) => deleting(blobs, "a/b", ["a/b/1"], ["b/1", "x/a/b/1", "a/c/a/b/1", "a/c/b"]),
  },
  {
    name: "deleteFolder: no character of it is a pattern",
    async run({ blobs }) {
      await deleting(blobs, "a/x_y", ["a/x_y/1"], ["a/xzy/1", "a/x%y/1"]);
      await deleting(blobs, "b/x%y", ["b/x%y/1"], ["a/xzy/1", "a/x%y/1", "b/xzy/1", "b/x/1"]);
      await deleting(blobs, "c/%", ["c/%/1"], ["a/xzy/1", "a/x%y/1", "b/xzy/1", "b/x/1", "c/d/1"]);
    },
  },
  {
    name: "deleteFolder: the same in another case stays",
    run: ({ blobs }) => deleting(blobs, "a/order", ["a/order/1"], ["a/Order/1", "A/order/1"]),
  },
  {
    name: "deleteFolder: what is not there is no mistake, nor is to do it twice",
    async run({ blobs }) {
      await blobs.deleteFolder("a/b");
      await putAll(blobs, ["a/b/1", "a/c/1"]);
      await blobs.deleteFolder("a/x");
      for (let count = 0; count < 2; count++) await blobs.deleteFolder("a/b");
      equal(await keysIn(blobs), ["a/c/1"], "keys");
    },
  },
  {
    name: "deleteFolder: what was in it may be put again",
    async run({ blobs, open }) {
      await putAll(blobs, ["a/b/1", "a/b/2"]);
      await (await open()).deleteFolder("a/b");
      equal(await blobs.get("a/b/1"), null, "what another handle deleted");
      await putAll(blobs, ["a/b/1"]);
      await expectBytes(blobs, "a/b/1", named("a/b/1"));
      equal(await keysIn(blobs), ["a/b/1"], "keys");
    },
  },
];

async function deleting(blobs: BlobStore, folder: string, inside: readonly string[], outside: readonly string[]): Promise<void> {
  await putAll(blobs, [...inside, ...outside]);
  await blobs.deleteFolder(folder);
  for (const key of inside) equal(await blobs.get(key), null, `the deleted ${key}`);
  for (const key of outside) await expectBytes(blobs, key, named(key));
  equal(await keysIn(blobs), outside.toSorted(), "keys that stay");
}
