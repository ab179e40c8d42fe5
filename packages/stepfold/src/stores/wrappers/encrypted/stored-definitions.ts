import type { Definitions } from "../values/value-store.ts";

/**
 * Stores a definition once for each key that was the first one, under a hash of its own hash and the id of the key. A stored definition
 * never changes, so under its own hash it could never be encrypted with a newer key.
 *
 * @param keyIds the ids of all keys; the first key encrypts
 */
export function storedDefinitions(inner: Definitions, keyIds: readonly string[]): Definitions {
  const hashWithKey = async (hash: string, keyId: string): Promise<string> => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify([hash, keyId])));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  return {
    // listed under its own hash, so it is listed only once, however many keys have encrypted it
    putDefinition: async (hash, definition, { listedAs = hash } = {}) =>
      inner.putDefinition(await hashWithKey(hash, keyIds[0]!), definition, { listedAs }),
    async getDefinition(hash) {
      for (const keyId of keyIds) {
        const found = await inner.getDefinition(await hashWithKey(hash, keyId));
        if (found) return found;
      }
      // a definition from before the encryption: the decoder refuses it, unless such values are accepted
      return inner.getDefinition(hash);
    },
  };
}
