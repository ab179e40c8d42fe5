/** Encodes bytes as base64, on every platform. */
export function toBase64(bytes: Uint8Array): string {
  // if the platform has `Buffer`: it is about a hundred times as fast
  if (typeof Buffer !== "undefined") return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  const parts: string[] = [];
  for (let from = 0; from < bytes.length; from += 8192) parts.push(String.fromCharCode(...bytes.subarray(from, from + 8192)));
  return btoa(parts.join(""));
}

/** Decodes base64. Accepts line breaks, which some databases add. Throws if the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (typeof Buffer !== "undefined") {
    const bytes = new Uint8Array(Buffer.from(text, "base64"));
    // `Buffer.from` accepts any text: compare, and let `atob` throw if the text is not base64
    if (toBase64(bytes) === text.replaceAll("\n", "")) return bytes;
  }
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  // much faster than Uint8Array.from
  for (let index = 0; index < chars.length; index++) bytes[index] = chars.charCodeAt(index);
  return bytes;
}
