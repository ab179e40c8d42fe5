import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { anything, checkOptions } from "../../../core/values/check-arguments.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { describeLocation, type ValueCodec } from "../values/codec.ts";
import { rejected } from "../values/rejected.ts";
import { valueStore } from "../values/value-store.ts";
import { compressedText, decompress } from "./methods.ts";

/** Options of a compressed store. */
export interface CompressedStoreOptions {
  /** Values whose JSON has more bytes than this are compressed, if that makes them smaller. Default 1,024. */
  readonly aboveBytes?: number;
  /** The most bytes of a decompressed value. A larger value is not compressed, and its decompression is refused. Default 64 MiB. */
  readonly maxBytes?: number;
}

/**
 * A store that compresses large values before it passes them to the inner store: with zstd if the platform has it, else with gzip. A value
 * that would not get smaller stays as it is. Needs Node.js.
 *
 * Metadata values that are text are not compressed either, so that `list` finds them. Compress before you encrypt:
 * `compressedStore(encryptedStore(inner, ...))`. `close()` closes the inner store.
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
 * Reading an execution rejects with `STORE_REJECTED` if a value is damaged, is larger than `maxBytes`, or was compressed with a method that
 * this platform does not have.
 *
 * @throws StepfoldError `OPTION_INVALID`
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function compressedStore(inner: SnapshotStore, options: CompressedStoreOptions = {}): SnapshotStore {
  checkOptions("compressedStore", options, { aboveBytes: anything, maxBytes: anything });
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
        // fast path: UTF-8 needs at most 3 bytes for each UTF-16 code unit, so a short text need not be encoded
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
