import type { BlobStore } from "../../../ports/blob-store.ts";
import type { BrokenBlobStore } from "./broken-blob-store.ts";

/** Mistakes in how `put` and `get` treat bytes. */
export const brokenBlobBytes: readonly BrokenBlobStore[] = [
  {
    name: "throws for what is missing",
    caughtBy: "get: null for what was never put",
    breaks: (blobs) => ({
      ...blobs,
      async get(key) {
        const bytes = await blobs.get(key);
        if (bytes === null) throw new TypeError(`there is no ${key}`);
        return bytes;
      },
    }),
  },
  {
    name: "takes bytes for text",
    caughtBy: "put: every byte comes back as it is",
    breaks: (blobs) => putting(blobs, (bytes) => new TextEncoder().encode(new TextDecoder().decode(bytes))),
  },
  {
    name: "ends at the first zero",
    caughtBy: "put: every byte comes back as it is",
    breaks: (blobs) => putting(blobs, (bytes) => (bytes.includes(0) ? bytes.subarray(0, bytes.indexOf(0)) : bytes)),
  },
  {
    name: "puts the whole buffer that bytes are a part of",
    caughtBy: "put: a part of a larger buffer is that part",
    breaks: (blobs) => putting(blobs, (bytes) => new Uint8Array(bytes.buffer)),
  },
  {
    name: "takes no bytes for no blob",
    caughtBy: "put: no bytes at all are a blob, too",
    breaks: (blobs) => ({
      ...blobs,
      async get(key) {
        const bytes = await blobs.get(key);
        return bytes?.length ? bytes : null;
      },
    }),
  },
  {
    name: "cuts off what is large",
    caughtBy: "put: five megabytes come back",
    breaks: (blobs) => putting(blobs, (bytes) => bytes.subarray(0, 2 ** 22)),
  },
  {
    name: "refuses what is there already",
    caughtBy: "put: the same again is no mistake, and one blob",
    breaks: (blobs) => ({
      ...blobs,
      async put(key, bytes) {
        if (await blobs.get(key)) throw new TypeError(`there is a ${key} already`);
        await blobs.put(key, bytes);
      },
    }),
  },
  {
    name: "appends to what is there",
    caughtBy: "put: the same again is no mistake, and one blob",
    breaks: (blobs) => ({
      ...blobs,
      put: async (key, bytes) => blobs.put(key, Uint8Array.from([...((await blobs.get(key)) ?? []), ...bytes])),
    }),
  },
  {
    name: "keeps the bytes that were handed in",
    caughtBy: "put: what becomes of the bytes afterwards changes nothing",
    breaks: keepingGiven,
  },
  {
    name: "keeps what is put in the handle",
    caughtBy: "put: what is there is there for another handle",
    breaks: (blobs) => {
      const own = new Map<string, Uint8Array>();
      return {
        ...blobs,
        put: async (key, bytes) => void own.set(key, bytes.slice()),
        get: async (key) => own.get(key)?.slice() ?? blobs.get(key),
      };
    },
  },
];

function putting(blobs: BlobStore, change: (bytes: Uint8Array) => Uint8Array): BlobStore {
  return { ...blobs, put: (key, bytes) => blobs.put(key, change(bytes)) };
}

function keepingGiven(blobs: BlobStore): BlobStore {
  const given = new Map<string, Uint8Array>();
  return {
    ...blobs,
    put: async (key, bytes) => void given.set(key, bytes),
    get: async (key) => given.get(key) ?? null,
  };
}
