import type { BlobEntry, BlobStore } from "../../../ports/blob-store.ts";
import type { BrokenBlobStore } from "./broken-blob-store.ts";

/** Mistakes in lists, and mistakes that show only while several calls run at once. */
export const brokenBlobLists: readonly BrokenBlobStore[] = [
  {
    name: "lists its first page only",
    caughtBy: "list: each of many once, and none of those that were deleted",
    breaks: (blobs) => listing(blobs, (entries) => entries.slice(0, 1000)),
  },
  {
    name: "begins each page with the last entry of the one before",
    caughtBy: "list: each of many once, and none of those that were deleted",
    breaks: (blobs) => listing(blobs, (entries) => entries.flatMap((entry, index) => (index % 1000 === 999 ? [entry, entry] : [entry]))),
  },
  {
    name: "lists folders, too",
    caughtBy: "list: nothing where nothing was put",
    breaks: (blobs) => listing(blobs, (entries) => [{ key: "executions", writtenAt: Date.now() }, ...entries]),
  },
  {
    name: "tells seconds",
    caughtBy: "list: says when each was written, in milliseconds since 1970",
    breaks: (blobs) => listing(blobs, (entries) => entries.map(({ key, writtenAt }) => ({ key, writtenAt: Math.trunc(writtenAt / 1000) }))),
  },
  {
    name: "tells fractions of milliseconds",
    caughtBy: "list: says when each was written, in milliseconds since 1970",
    breaks: (blobs) => listing(blobs, (entries) => entries.map(({ key, writtenAt }) => ({ key, writtenAt: writtenAt + 0.25 }))),
  },
  {
    name: "counts how many it has listed, to go on after them",
    caughtBy: "list: what comes and goes meanwhile neither repeats nor hides the others",
    breaks: byOffset,
  },
  {
    name: "refuses a put while the same is being put",
    caughtBy: "race: the same put by several at once is put, and whole",
    breaks: (blobs) => {
      const underWay = new Set<string>();
      return {
        ...blobs,
        async put(key, bytes) {
          if (underWay.has(key)) throw new TypeError(`${key} is being put`);
          underWay.add(key);
          await new Promise((resolve) => setTimeout(resolve, 1));
          await blobs.put(key, bytes).finally(() => underWay.delete(key));
        },
      };
    },
  },
  {
    name: "shows what is being put",
    caughtBy: "race: nobody sees half of what is being put",
    breaks: (blobs) => ({
      ...blobs,
      async put(key, bytes) {
        await blobs.put(key, bytes.subarray(0, bytes.length / 2));
        await new Promise((resolve) => setTimeout(resolve, 5));
        await blobs.put(key, bytes);
      },
    }),
  },
  {
    name: "acknowledges before it puts",
    caughtBy: "race: blobs that are put at once are all there",
    breaks: (blobs) => ({
      ...blobs,
      async put(key, bytes) {
        const copy = bytes.slice();
        setTimeout(() => void blobs.put(key, copy), 2);
      },
    }),
  },
  {
    name: "deletes the folder above if it looks empty, with what is being put there",
    caughtBy: "race: what is put beside a folder that is deleted is there",
    breaks: (blobs) => ({
      ...blobs,
      async deleteFolder(folder) {
        await blobs.deleteFolder(folder);
        await new Promise((resolve) => setTimeout(resolve, 2));
        const above = folder.split("/").slice(0, -1).join("/");
        if (above !== "") await blobs.deleteFolder(above);
      },
    }),
  },
  {
    name: "cannot delete what another one is deleting",
    caughtBy: "race: a folder that several delete at once is gone",
    breaks: (blobs) => ({
      ...blobs,
      async deleteFolder(folder) {
        const isThere = (await firstIn(blobs, folder)) !== null;
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (isThere && (await firstIn(blobs, folder)) === null) throw new TypeError(`${folder} has gone`);
        await blobs.deleteFolder(folder);
      },
    }),
  },
];

function listing(blobs: BlobStore, change: (entries: readonly BlobEntry[]) => readonly BlobEntry[]): BlobStore {
  return {
    ...blobs,
    async *list() {
      yield* change(await entriesOf(blobs));
    },
  };
}

/** Makes a blob store that pages as `LIMIT 100 OFFSET n` does, so that changes between two pages hide or repeat entries. */
function byOffset(blobs: BlobStore): BlobStore {
  return {
    ...blobs,
    async *list() {
      for (let offset = 0; ; offset += 100) {
        const sorted = (await entriesOf(blobs)).sort((one, other) => (one.key < other.key ? -1 : 1));
        yield* sorted.slice(offset, offset + 100);
        if (sorted.length <= offset + 100) return;
      }
    },
  };
}

async function entriesOf(blobs: BlobStore): Promise<BlobEntry[]> {
  const entries: BlobEntry[] = [];
  for await (const entry of blobs.list()) entries.push(entry);
  return entries;
}

async function firstIn(blobs: BlobStore, folder: string): Promise<string | null> {
  for await (const { key } of blobs.list()) if (key.startsWith(`${folder}/`)) return key;
  return null;
}
