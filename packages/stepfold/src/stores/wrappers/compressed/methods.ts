import zlib from "node:zlib";
import type { JsonObject } from "../../../core/values/json.ts";

/** A method of compression. Its name is the field of a marker that holds the data. */
interface Method {
  readonly name: string;
  compress(bytes: Uint8Array): Buffer;
  decompress(data: Uint8Array, maxBytes: number): Buffer;
}

const gzip: Method = {
  name: "gzip",
  compress: (bytes) => zlib.gzipSync(bytes),
  decompress: (data, maxOutputLength) => zlib.gunzipSync(data, { maxOutputLength }),
};

const zstd: Method = {
  name: "zstd",
  compress: (bytes) => zlib.zstdCompressSync(bytes),
  decompress: (data, maxOutputLength) => zlib.zstdDecompressSync(data, { maxOutputLength }),
};

/** The methods that this platform has, the best first. Some platforms, such as older versions of Node.js, lack zstd. */
function methods(): Method[] {
  return typeof zlib.zstdCompressSync === "function" ? [zstd, gzip] : [gzip];
}

/** Compresses a text to the fields of a marker; null if the marker would not be smaller. */
export function compressedText(bytes: Uint8Array): JsonObject | null {
  const { name, compress } = methods()[0]!;
  const data = compress(bytes).toString("base64");
  const markerBytes = 40;
  return data.length + markerBytes < bytes.length ? { [name]: data } : null;
}

/** What a marker stands for, or why it cannot be decompressed. */
export type Decompressed =
  | { readonly text: string; readonly bytes: number }
  | { readonly reason: string; readonly isTooLarge?: boolean; readonly cause?: unknown };

/** Decompresses the text of a marker. */
export function decompress(marker: JsonObject, maxBytes: number): Decompressed {
  const known = methods();
  const method = known.find(({ name }) => Object.hasOwn(marker, name));
  if (!method) {
    const used = Object.keys(marker).filter((key) => !key.startsWith("~"));
    return { reason: `is compressed with ${used.join(", ")}; this platform has ${known.map(({ name }) => name).join(" and ")}` };
  }
  try {
    const data = Buffer.from(String(marker[method.name]), "base64");
    // the platform refuses a bound of 0
    const bytes = method.decompress(data, Math.max(1, maxBytes));
    return { text: bytes.toString(), bytes: bytes.length };
  } catch (cause) {
    const isTooLarge = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return { reason: "is damaged: it cannot be decompressed", isTooLarge, cause };
  }
}
