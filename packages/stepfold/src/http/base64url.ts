/** Writes bytes as text that is allowed in a URL. */
export function toBase64Url(bytes: Uint8Array): string {
  let chars = "";
  for (const byte of bytes) chars += String.fromCharCode(byte);
  return btoa(chars).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Reads the bytes of base64url or base64; null for any other text. */
export function fromBase64Text(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w+/-]*={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}
