import { createHash } from "node:crypto";

/** Longer names are shortened and end in a hash. A file system takes 255 bytes, and a number and an extension follow. */
const maxNameLength = 200;

/** Names that Windows takes for devices, with any extension. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Returns the name of a file for an id, without an extension. The name contains no folder, and each id has a different name, also on
 * disks that ignore upper and lower case. `decodeURIComponent` gives back the id from a name without `~`.
 */
export function historyFileName(workflowId: string): string {
  const encoded = encode(workflowId);
  if (encoded !== null && encoded !== "" && encoded.length <= maxNameLength) return encoded;
  const readable = workflowId
    .slice(0, 1000)
    .replace(/[^a-z0-9_-]/g, "")
    .slice(0, 100);
  // the hash is of UTF-16, because in UTF-8 different ids with half surrogate pairs become the same bytes
  return `${readable}~${createHash("sha256").update(Buffer.from(workflowId, "utf16le")).digest("hex").slice(0, 40)}`;
}

/** Returns the encoded text; null if it is not valid Unicode. */
function encode(text: string): string | null {
  if (/\p{Cs}/u.test(text)) return null;
  const bytes = [...Buffer.from(text, "utf8")];
  return bytes
    .map((byte, index) => (isPlain(byte) && !(index === 0 && device.test(text)) ? String.fromCharCode(byte) : escaped(byte)))
    .join("");
}

function isPlain(byte: number): boolean {
  return /[a-z0-9_-]/.test(String.fromCharCode(byte));
}

function escaped(byte: number): string {
  return `%${byte.toString(16).padStart(2, "0")}`;
}
