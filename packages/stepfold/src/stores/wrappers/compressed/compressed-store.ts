import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { anything, checkOptions } from "../../../core/values/check-arguments.ts";
import { defaultLimits } from "../../../core/values/limits.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { describeLocation, type ValueCodec, type ValueLocation } from "../values/codec.ts";
import { rejected } from "../values/rejected.ts";
import { valueStore } from "../values/value-store.ts";
import { compressedText, decompress } from "./methods.ts";

/** Options of a compressed store. */
export interface CompressedStoreOptions {
  /** Values whose JSON has more bytes than this are compressed, if that makes them smaller. Default 1,024. */
  readonly aboveBytes?: number | undefined;
  /**
   * The most bytes of a decompressed value. A larger value is not compressed, and its decompression is refused. Default 4 MiB: twice the
   * limit `valueBytes`. Raise both together.
   */
  readonly maxBytes?: number | undefined;
  /**
   * The most bytes of all decompressed values of an execution that is loaded; more are refused. Default 64 MiB, as the limit
   * `executionBytes`. Raise both together.
   */
  readonly maxExecutionBytes?: number | undefined;
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
 * Reading an execution rejects with `STORE_REJECTED` if a value is damaged, is larger than `maxBytes`, if all
 * values of the execution together are larger than `maxExecutionBytes`, or if a value was compressed with a method that
 * this platform does not have.
 *
 * @throws StepfoldError `OPTION_INVALID`
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function compressedStore(inner: SnapshotStore, options: CompressedStoreOptions = {}): SnapshotStore {
  checkOptions("compressedStore", options, { aboveBytes: anything, maxBytes: anything, maxExecutionBytes: anything });
  const { aboveBytes = 1024, maxBytes = 2 * defaultLimits.valueBytes, maxExecutionBytes = defaultLimits.executionBytes } = options;
  for (const [option, bytes] of Object.entries({ aboveBytes, maxBytes, maxExecutionBytes })) {
    if (Number.isInteger(bytes) && bytes >= 0) continue;
    throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a whole number of bytes" });
  }
  /** The bytes that were decompressed for one load so far. */
  const loaded = new WeakMap<ValueLocation, number>();
  const tooLarge = `more than ${maxBytes} bytes (maxBytes)`;
  const tooMuch = `more bytes than are left: the values of one execution may have ${maxExecutionBytes} together (maxExecutionBytes)`;
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
      const left = maxExecutionBytes - (loaded.get(location) ?? 0);
      const result = decompress(marker, Math.min(maxBytes, left));
      if ("text" in result) {
        loaded.set(location, maxExecutionBytes - left + result.bytes);
        return result.text;
      }
      if (result.isTooLarge)
        throw rejected("compressed", `a value of ${describeLocation(location)} would have ${left < maxBytes ? tooMuch : tooLarge}`);
      throw rejected("compressed", `a value of ${describeLocation(location)} ${result.reason}`, result.cause);
    },
  };
  return valueStore("compressed", inner, codec);
}
