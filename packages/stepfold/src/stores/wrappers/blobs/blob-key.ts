/** A text whose encoded form is longer becomes a segment with a hash. */
const maxSegmentLength = 200;

/**
 * Writes a text as one segment of a key, in a readable form if possible. A text that is empty, too long, or not well-formed Unicode becomes
 * a segment that ends in a hash, and cannot be read back.
 */
export async function segmentOf(text: string): Promise<string> {
  const encoded = percentEncoded(text);
  if (encoded !== null && encoded !== "" && encoded.length <= maxSegmentLength) return encoded;
  // a hash of the UTF-16 code units, which every text has
  const units = Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  const hash = await digestOf(new Uint8Array(units.buffer));
  return `${text.replace(/[^\w-]/g, "").slice(0, 100)}~${hash.slice(0, 40)}`;
}

/** Reads the text of a segment; null if it holds a hash, or was not made by `segmentOf`. */
export function textOfSegment(segment: string): string | null {
  if (segment.includes("~")) return null;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** Returns the SHA-256 of bytes, in lower-case hex. */
export async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Percent-encodes a text; null if it is not well-formed Unicode. */
function percentEncoded(text: string): string | null {
  try {
    return encodeURIComponent(text).replace(/[!'()*~.]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    return null;
  }
}
