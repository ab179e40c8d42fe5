import { createHash } from "node:crypto";

/** Longer names end in a hash: a file system takes 255 bytes, and something may follow. */
const maxNameLength = 200;

/** What Windows takes for a device, whatever its ending is. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Any id as the name of a file, without its ending: in one folder, and another one for every other id also where disks do
 * not tell upper from lower case. `decodeURIComponent` reads those without `~`.
 */
export function historyFileName(workflowId: string): string {
  const encoded = encode(workflowId);
  if (encoded !== null && encoded !== "" && encoded.length <= maxNameLength) return encoded;
  const readable = workflowId
    .slice(0, 1000)
    .replace(/[^a-z0-9_-]/g, "")
    .slice(0, 100);
  // UTF-16, which tells apart what is no proper Unicode
  return `${readable}~${createHash("sha256").update(Buffer.from(workflowId, "utf16le")).digest("hex").slice(0, 40)}`;
}

/** Null for what is no proper Unicode. */
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
