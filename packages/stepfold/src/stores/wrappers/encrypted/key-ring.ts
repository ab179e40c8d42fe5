import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** A key that encrypts values. */
export interface EncryptionKey {
  /** The name of the key in stored values: letters, digits, `.`, `_` and `-`, at most 64. Never give the same id to two keys. */
  readonly id: string;
  /** 32 random bytes. */
  readonly key: Uint8Array;
}

/** A key imported into WebCrypto. */
type SecretKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** The imported keys of a store. */
export interface KeyRing {
  /** The id of the key that encrypts. */
  readonly first: string;
  /** The ids of all keys, in the given order. */
  readonly ids: readonly string[];
  /** Returns the key with an id; undefined if there is none. */
  get(id: string): Promise<SecretKey> | undefined;
}

/**
 * Imports the keys.
 *
 * @throws StepfoldError `OPTION_INVALID`
 */
export function keyRing(keys: readonly EncryptionKey[]): KeyRing {
  const known = new Map<string, Promise<SecretKey>>();
  for (const { id, key } of keys) {
    if (!/^[\w.-]{1,64}$/.test(id)) throw invalid("keys", "need ids of letters, digits, dot, underscore and hyphen, at most 64");
    if (known.has(id)) throw invalid("keys", `name "${id}" twice`);
    known.set(id, crypto.subtle.importKey("raw", secretBytes("keys", key), "AES-GCM", false, ["encrypt", "decrypt"]));
  }
  const ids = [...known.keys()];
  const [first] = ids;
  if (first === undefined) throw invalid("keys", "is empty: the first key encrypts, all decrypt");
  return { first, ids, get: (id) => known.get(id) };
}

/**
 * Copies 32 secret bytes.
 *
 * @throws StepfoldError `OPTION_INVALID` for anything else
 */
export function secretBytes(option: string, key: Uint8Array): Uint8Array<ArrayBuffer> {
  if (!(key instanceof Uint8Array) || key.byteLength !== 32) {
    throw invalid(option, "must be 32 random bytes (a Uint8Array): crypto.getRandomValues(new Uint8Array(32))");
  }
  return Uint8Array.from(key);
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
