import type { BlobStore } from "../../src/ports/blob-store.ts";

/** A blob store in memory that keeps the whole contract. */
export function rightBlobs(): BlobStore {
  const held = new Map<string, { readonly bytes: Uint8Array; readonly writtenAt: number }>();
  return {
    name: "memory",
    async put(key, bytes) {
      held.set(key, { bytes: bytes.slice(), writtenAt: Date.now() });
    },
    get: async (key) => held.get(key)?.bytes.slice() ?? null,
    async deleteFolder(folder) {
      for (const key of [...held.keys()]) if (key.startsWith(`${folder}/`)) held.delete(key);
    },
    async *list() {
      for (const [key, { writtenAt }] of [...held]) if (held.has(key)) yield { key, writtenAt };
    },
  };
}
