import type { Json } from "../../../core/values/json.ts";
import { toBase64 } from "../../kit/blobs/base64.ts";
import { secretBytes } from "./key-ring.ts";

/** Makes a token of a list. Equal lists have the same token. Tokens can only be made with the key, and do not reveal the list. */
export type Sign = (parts: readonly Json[]) => Promise<string>;

/**
 * Makes tokens with HMAC-SHA-256 and the search key; null without one.
 *
 * @throws StepfoldError `OPTION_INVALID` unless the key has 32 bytes
 */
export function signer(searchKey: Uint8Array | undefined): Sign | null {
  if (searchKey === undefined) return null;
  const secret = secretBytes("searchKey", searchKey);
  const imported = crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return async (parts) => {
    // JSON distinguishes the number 1 from the text "1"
    const bytes = new TextEncoder().encode(JSON.stringify(parts));
    return toBase64(new Uint8Array(await crypto.subtle.sign("HMAC", await imported, bytes)));
  };
}
