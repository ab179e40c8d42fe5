import { aListOfObjects, anything, checkOptions } from "../../../core/values/check-arguments.ts";
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

/** Options of an encrypted store. */
export interface EncryptedStoreOptions {
  /** The first key encrypts. Each key decrypts the values that name its id. To rotate keys, put a new key before the others. */
  readonly keys: readonly EncryptionKey[];
  /**
   * 32 random bytes that are not used as an encryption key. With it `list({ metadata })` finds executions by equal values, `list({ waiting
   * })` finds them by signals, keys and people, and workflows may have a `concurrency` key or a `rateLimit`. A reader of the database can
   * then see which executions have equal values. Never change it. Default: these cannot be searched, and workflows with either of
   * the two are not started.
   */
  readonly searchKey?: Uint8Array | undefined;
  /**
   * How to treat stored values that are not encrypted. `refuse`, the default: reading them rejects with `STORE_REJECTED`, so a person with
   * write access to the database cannot put other values into executions. `accept`: they are read. Use it while encryption is introduced in
   * a store that already has executions.
   */
  readonly plain?: "refuse" | "accept" | undefined;
}

/** The key by which markers of this store are recognised. */
export const encryptionMark = "~stepfold/encrypted";

/**
 * A store that encrypts the data of users before it passes them to the inner store: AES-256-GCM, with a new random IV for each value. It
 * runs on every platform with WebCrypto.
 *
 * These are encrypted: inputs, outputs, payloads, messages and names of errors, metadata with its keys, keys of permits, items of maps,
 * names of people, keys of answers, and definitions. In general everything is encrypted that is not on a list of structural fields. These
 * stay readable: ids of executions, definitions, nodes, edges and paths, handles, statuses, versions, times and sizes. A value is bound to
 * its execution: it cannot be decrypted in another one.
 *
 * Stored values are never encrypted again with a new key, because history does not change: keep an old key as long as `executionsWithKey`
 * finds executions. Values from before the encryption are read only with `plain: "accept"`. `close()` closes the inner store.
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
 * Reading rejects with `STORE_REJECTED` if the key is missing (the error names it), or if a stored value was changed or moved, or is not
 * encrypted. Without `searchKey`, a search by metadata (other than by bounds) or by names in waits, and the start of an execution with a
 * permit or a rate, are `OPTION_INVALID`.
 *
 * @throws StepfoldError `OPTION_INVALID` if there is no key, a key or the search key does not have 32 bytes, an id is not valid or is given
 * twice, or `plain` is invalid
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function encryptedStore(inner: SnapshotStore, options: EncryptedStoreOptions): SnapshotStore {
  checkOptions("encryptedStore", options, { keys: aListOfObjects, searchKey: anything, plain: anything }, ["keys"]);
  const { keys, searchKey, plain = "refuse" } = options;
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
