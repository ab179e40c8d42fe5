import type { BlobStore } from "../../../ports/blob-store.ts";
import type { BrokenBlobStore } from "./broken-blob-store.ts";

/** Mistakes with keys and folders. */
export const brokenBlobKeys: readonly BrokenBlobStore[] = [
  {
    name: "decodes keys",
    caughtBy: "keys: every character stands for itself",
    breaks: (blobs) => naming(blobs, (key) => key.replace("%5F", "_")),
  },
  {
    name: "compares keys without their case",
    caughtBy: "keys: the same in another case is another key",
    breaks: (blobs) => naming(blobs, (key) => key.toLowerCase()),
  },
  {
    name: "cuts keys off at 255 characters",
    caughtBy: "keys: the longest differ in their last character",
    breaks: (blobs) => naming(blobs, (key) => key.slice(0, 255)),
  },
  {
    name: "loses keys without a folder",
    caughtBy: "keys: one segment is enough",
    breaks: (blobs) => ({
      ...blobs,
      async put(key, bytes) {
        if (key.includes("/")) await blobs.put(key, bytes);
      },
    }),
  },
  {
    name: "deletes only what lies in the folder itself",
    caughtBy: "deleteFolder: all that is in it is gone, however deep",
    breaks: (blobs) => deleting(blobs, (key, folder) => key.startsWith(`${folder}/`) && !key.slice(folder.length + 1).includes("/")),
  },
  {
    name: "forgets the slash behind a folder",
    caughtBy: "deleteFolder: what only begins like it stays",
    breaks: (blobs) => deleting(blobs, (key, folder) => key.startsWith(folder)),
  },
  {
    name: "deletes a range that ends too late",
    caughtBy: "deleteFolder: what only begins like it stays",
    breaks: (blobs) => deleting(blobs, (key, folder) => key >= `${folder}/` && key < `${folder}~~`),
  },
  {
    name: "looks for a folder anywhere",
    caughtBy: "deleteFolder: what has its name elsewhere stays",
    breaks: (blobs) => deleting(blobs, (key, folder) => `/${key}`.includes(`/${folder}/`)),
  },
  { name: "takes a folder for a pattern", caughtBy: "deleteFolder: no character of it is a pattern", breaks: likeBlobs },
  {
    name: "deletes folders without their case",
    caughtBy: "deleteFolder: the same in another case stays",
    breaks: (blobs) => deleting(blobs, (key, folder) => key.toLowerCase().startsWith(`${folder.toLowerCase()}/`)),
  },
  {
    name: "refuses to delete what is not there",
    caughtBy: "deleteFolder: what is not there is no mistake, nor is to do it twice",
    breaks: (blobs) => ({
      ...blobs,
      async deleteFolder(folder) {
        for await (const { key } of blobs.list()) if (key.startsWith(`${folder}/`)) return blobs.deleteFolder(folder);
        throw new TypeError(`there is no ${folder}`);
      },
    }),
  },
  {
    name: "remembers what was put, whoever deletes it",
    caughtBy: "deleteFolder: what was in it may be put again",
    breaks: (blobs) => {
      const known = new Set<string>();
      return {
        ...blobs,
        async put(key, bytes) {
          if (!known.has(key)) await blobs.put(key, bytes);
          known.add(key);
        },
      };
    },
  },
];

function naming(blobs: BlobStore, name: (key: string) => string): BlobStore {
  return { ...blobs, put: (key, bytes) => blobs.put(name(key), bytes), get: (key) => blobs.get(name(key)) };
}

/** Makes a blob store with its own rule for which keys are inside a folder. */
function deleting(blobs: BlobStore, isInside: (key: string, folder: string) => boolean): BlobStore {
  const gone = new Set<string>();
  return {
    ...blobs,
    async put(key, bytes) {
      gone.delete(key);
      await blobs.put(key, bytes);
    },
    get: async (key) => (gone.has(key) ? null : blobs.get(key)),
    async deleteFolder(folder) {
      for await (const { key } of blobs.list()) if (isInside(key, folder)) gone.add(key);
    },
    async *list() {
      for await (const entry of blobs.list()) if (!gone.has(entry.key)) yield entry;
    },
  };
}

/** Makes a blob store that compares folders as the operator `LIKE` of SQL does. */
function likeBlobs(blobs: BlobStore): BlobStore {
  return deleting(blobs, (key, folder) => {
    const pattern = folder.replace(/[.~-]/g, "\\$&").replaceAll("%", ".*").replaceAll("_", ".");
    return new RegExp(`^${pattern}/`).test(key);
  });
}
