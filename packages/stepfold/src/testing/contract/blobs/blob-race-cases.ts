import type { BlobStore } from "../../../ports/blob-store.ts";
import type { BlobContractCase } from "../../blob-contract-case.ts";
import { equal } from "../../expectations.ts";
import { expectBytes, keysIn, named, putAll, randomBytes } from "./blob-content.ts";

const rounds = 10;

/** What holds while several callers write, read and delete at the same time. */
export const blobRaceCases: readonly BlobContractCase[] = [
  {
    name: "race: the same put by several at once is put, and whole",
    async run({ blobs, open }) {
      const other = await open();
      const bytes = randomBytes(300_000);
      for (let round = 0; round < rounds; round++) {
        const key = `a/${round}/b`;
        await Promise.all([blobs, other, blobs, other].map((handle) => handle.put(key, bytes)));
        await expectBytes(blobs, key, bytes);
      }
      equal((await keysIn(other)).length, rounds, "blobs");
    },
  },
  {
    name: "race: nobody sees half of what is being put",
    async run({ blobs, open }) {
      const other = await open();
      const bytes = randomBytes(300_000);
      for (let round = 0; round < rounds; round++) {
        const key = `a/${round}/b`;
        let done = false;
        const putting = blobs.put(key, bytes).finally(() => {
          done = true;
        });
        await Promise.all([putting, watching(other, key, bytes, () => done)]);
        await expectBytes(other, key, bytes);
      }
    },
  },
  {
    name: "race: blobs that are put at once are all there",
    async run({ blobs, open }) {
      const other = await open();
      const keys = Array.from({ length: 64 }, (_, index) => `a/${index % 8}/${index}`);
      await Promise.all(keys.map((key, index) => [blobs, other][index % 2]!.put(key, named(key))));
      equal(await keysIn(blobs), keys.toSorted(), "keys");
      for (const key of keys) await expectBytes(other, key, named(key));
    },
  },
  {
    name: "race: what is put beside a folder that is deleted is there",
    async run({ blobs, open }) {
      const other = await open();
      for (let round = 0; round < rounds * 2; round++) {
        await putAll(blobs, [`executions/${round}/old/1`, `executions/${round}/old/2`]);
        const key = `executions/${round}/new/1`;
        await Promise.all([blobs.deleteFolder(`executions/${round}/old`), other.put(key, named(key))]);
        await expectBytes(blobs, key, named(key));
        equal(await blobs.get(`executions/${round}/old/1`), null, "what was deleted");
      }
    },
  },
  {
    name: "race: a folder that several delete at once is gone",
    async run({ blobs, open }) {
      const other = await open();
      for (let round = 0; round < rounds; round++) {
        await putAll(
          blobs,
          Array.from({ length: 16 }, (_, index) => `a/b/${index % 4}/${index}`),
        );
        await Promise.all([blobs, other, blobs].map((handle) => handle.deleteFolder("a/b")));
        equal(await keysIn(blobs), [], "keys");
      }
    },
  },
];

/** Reads a blob again and again until `isDone`, and once afterwards. The blob must be missing or complete each time. */
async function watching(blobs: BlobStore, key: string, bytes: Uint8Array, isDone: () => boolean): Promise<void> {
  for (let last = false; !last; ) {
    last = isDone();
    if ((await blobs.get(key)) !== null) await expectBytes(blobs, key, bytes);
    // A store that answers at once must leave the other calls time to work.
    await new Promise((resolve) => setTimeout(resolve));
  }
}
