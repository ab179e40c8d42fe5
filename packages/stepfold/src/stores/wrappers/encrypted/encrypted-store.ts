import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { describeLocation, type ValueCodec, type ValueLocation } from "../values/codec.ts";
import { valueStore } from "../values/value-store.ts";
import { cipher } from "./cipher.ts";
import { encryptedMetadata } from "./encrypted-metadata.ts";
import { encryptedPermit } from "./encrypted-permit.ts";
import { encryptedWaits } from "./encrypted-waits.ts";
import { type EncryptionKey, keyRing } from "./key-ring.ts";
import { readPlain } from "./refuse-plain.ts";
import { signer } from "./search-token.ts";
import { storedDefinitions } from "./stored-definitions.ts";

/** How values are encrypted. */
export interface EncryptedStoreOptions {
  /** The first encrypts; each decrypts what names its id. To rotate, put a new one before the others. */
  readonly keys: readonly EncryptionKey[];
  /**
   * 32 random bytes that are no encryption key. With it `list({ metadata })` finds executions by equal values, `list({ waiting })` by signals,
   * keys and people, and workflows
   * may have a `concurrency` key; a reader of the database then sees which executions have equal ones. Never change it.
   * Default: metadata cannot be searched, and such workflows are not started.
   */
  readonly searchKey?: Uint8Array;
  /**
   * What becomes of values that are stored and not encrypted. `refuse`, the default: reading them rejects with `STORE_REJECTED`, so
   * nobody who can write to the database puts values of their own into executions. `accept`: they are read; for the time in which
   * encryption is added to a store that is in use.
   */
  readonly plain?: "refuse" | "accept";
}

/** The key of the markers of this store. */
export const encryptionMark = "~stepfold/encrypted";

/**
 * A store that encrypts what users put into executions before another store sees it: AES-256-GCM, a new random IV for
 * each value. Runs wherever WebCrypto does.
 *
 * Encrypted are inputs, outputs, payloads, messages and names of errors, metadata with its keys, keys of permits, items of
 * maps, names of people and keys of answers, definitions: everything that is not on a list of structural fields. Readable
 * stay ids of executions, definitions, nodes, edges and paths, handles, statuses, versions, times and sizes. A value is bound
 * to its execution: in another one it cannot be decrypted.
 *
 * Values are never encrypted again, because history does not change: keep an old key as long as `executionsWithKey` finds
 * any. What was stored before there was encryption is read only with `plain: "accept"`. `close()` closes the store below.
 *
 * ```ts
 * import { encryptedStore } from "stepfold/stores/encrypted";
 * import { memoryStore } from "stepfold/stores/memory";
 *
 * const key = crypto.getRandomValues(new Uint8Array(32)); // from your key management
 * const store = encryptedStore(memoryStore(), { keys: [{ id: "2026-01", key }] });
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * ```
 *
 * Reading rejects with `STORE_REJECTED` if the key is missing (the error names it), or what is stored was changed or moved, or
 * is not encrypted.
 * Without `searchKey`, `list({ metadata })` and the start of an execution with a permit are `OPTION_INVALID`.
 *
 * @throws StepfoldError `OPTION_INVALID` if there is no key, or one has not 32 bytes or the id of another, or `plain` is neither
 */
export function encryptedStore(inner: SnapshotStore, { keys, searchKey, plain = "refuse" }: EncryptedStoreOptions): SnapshotStore {
  const ring = keyRing(keys);
  const texts = cipher(ring);
  const sign = signer(searchKey);
  const refusePlain = readPlain(plain);
  const codec: ValueCodec = {
    store: "encrypted",
    mark: encryptionMark,
    needsIncarnation: true,
    ...(refusePlain && { refusePlain }),
    encode: (values, location) => Promise.all(values.map((text) => texts.encrypt(text, associatedDataOf(location)))),
    decode: (marker, location) => texts.decrypt(marker, associatedDataOf(location), `a value of ${describeLocation(location)}`),
    metadata: encryptedMetadata(encryptionMark, texts, sign, refusePlain),
    permit: encryptedPermit(encryptionMark, texts, sign, refusePlain),
    waits: encryptedWaits(sign),
  };
  return valueStore("encrypted", inner, codec, { definitions: storedDefinitions(inner, ring.ids) });
}

function associatedDataOf({ kind, id, incarnation }: ValueLocation): string {
  return JSON.stringify([kind, id, incarnation]);
}
