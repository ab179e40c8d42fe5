import type { Definitions } from "../values/value-store.ts";

/**
 * Keeps a definition once for each key, under a hash of its hash and the key's id: what is there never
 * changes, and would need its old key for ever.
 *
 * @param keyIds the first is the one that writes
 */
export function storedDefinitions(inner: Definitions, keyIds: readonly string[]): Definitions {
  const under = async (hash: string, keyId: string): Promise<string> => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify([hash, keyId])));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  return {
    putDefinition: async (hash, definition) => inner.putDefinition(await under(hash, keyIds[0]!), definition),
    async getDefinition(hash) {
      for (const keyId of keyIds) {
        const found = await inner.getDefinition(await under(hash, keyId));
        if (found) return found;
      }
      // written before there was encryption
      return inner.getDefinition(hash);
    },
  };
}
