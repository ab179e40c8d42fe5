import type { BlobStore } from "../../../ports/blob-store.ts";
import { equal, holds, present } from "../../expectations.ts";

/** Returns bytes that look random and depend only on the seed. Most of them are not valid text. */
export function randomBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed >>> 0;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** Returns bytes that contain the key under which they are put. */
export function named(key: string): Uint8Array {
  return new TextEncoder().encode(`this is ${key}`);
}

/** Fails unless exactly these bytes are stored under the key. */
export async function expectBytes(blobs: BlobStore, key: string, expected: Uint8Array): Promise<void> {
  const found = present(await blobs.get(key), `the blob ${key}`);
  equal(found.length, expected.length, `bytes of ${key}`);
  const wrong = expected.findIndex((byte, index) => byte !== found[index]);
  holds(wrong === -1, `byte ${wrong} of ${key} is ${found[wrong]}, expected ${expected[wrong]}`);
}

/** Puts blobs that contain their keys, 16 at a time. */
export async function putAll(blobs: BlobStore, keys: readonly string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += 16) {
    await Promise.all(keys.slice(from, from + 16).map((key) => blobs.put(key, named(key))));
  }
}

/** Returns all keys that `list` shows, sorted. */
export async function keysIn(blobs: BlobStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of blobs.list()) keys.push(key);
  return keys.sort();
}
