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

/** Decompresses the text of a marker, or returns the reason why that is not possible. */
export function decompress(
  marker: JsonObject,
  maxBytes: number,
): { readonly text: string } | { readonly reason: string; readonly cause?: unknown } {
  const known = methods();
  const method = known.find(({ name }) => Object.hasOwn(marker, name));
  if (!method) {
    const used = Object.keys(marker).filter((key) => !key.startsWith("~"));
    return { reason: `is compressed with ${used.join(", ")}; this platform has ${known.map(({ name }) => name).join(" and ")}` };
  }
  try {
    return { text: method.decompress(Buffer.from(String(marker[method.name]), "base64"), maxBytes).toString() };
  } catch (cause) {
    const tooLarge = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    return { reason: tooLarge ? `would have more than ${maxBytes} bytes (maxBytes)` : "is damaged: it cannot be decompressed", cause };
  }
}
