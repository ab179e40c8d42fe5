import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { describeLocation, type ValueCodec } from "../values/codec.ts";
import { rejected } from "../values/rejected.ts";
import { valueStore } from "../values/value-store.ts";
import { compressedText, decompress } from "./methods.ts";

/** When values are compressed. */
export interface CompressedStoreOptions {
  /** Values whose JSON has more bytes than this are compressed. Default 1,024. */
  readonly aboveBytes?: number;
  /** No value is decompressed to more bytes than this, and none above it is compressed. Default 64 MiB. */
  readonly maxBytes?: number;
}

/**
 * A store that compresses large values before another store sees them: zstd where the platform has it, else gzip. A value
 * that would not get smaller stays as it is. Needs Node.js.
 *
 * Metadata that is text stays as it is too, so that `list` finds it. Compress before you encrypt:
 * `compressedStore(encryptedStore(inner, ...))`. `close()` closes the store below.
 *
 * ```ts
 * import { compressedStore } from "stepfold/stores/compressed";
 * import { memoryStore } from "stepfold/stores/memory";
 *
 * const store = compressedStore(memoryStore(), { aboveBytes: 4096 });
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * ```
 *
 * Reading rejects with `STORE_REJECTED` if a value is damaged, would pass `maxBytes`, or was written with a method that
 * this platform lacks.
 *
 * @throws StepfoldError `OPTION_INVALID`
 */
export function compressedStore(inner: SnapshotStore, options: CompressedStoreOptions = {}): SnapshotStore {
  const { aboveBytes = 1024, maxBytes = 64 * 1024 * 1024 } = options;
  for (const [option, bytes] of Object.entries({ aboveBytes, maxBytes })) {
    if (Number.isInteger(bytes) && bytes >= 0) continue;
    throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a whole number of bytes" });
  }
  const codec: ValueCodec = {
    store: "compressed",
    mark: "~stepfold/compressed",
    async encode(texts) {
      return texts.map((text) => {
        // a character has at most 3 bytes: most small texts need not be encoded to see that they are small
        const bytes = text.length > aboveBytes / 3 ? Buffer.from(text) : null;
        return bytes && bytes.length > aboveBytes && bytes.length <= maxBytes ? compressedText(bytes) : null;
      });
    },
    async decode(marker, location) {
      const result = decompress(marker, maxBytes);
      if ("text" in result) return result.text;
      throw rejected("compressed", `a value of ${describeLocation(location)} ${result.reason}`, result.cause);
    },
  };
  return valueStore("compressed", inner, codec);
}
