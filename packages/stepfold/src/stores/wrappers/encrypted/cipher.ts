import type { JsonObject } from "../../../core/values/json.ts";
import { fromBase64, toBase64 } from "../../kit/blobs/base64.ts";
import { rejected } from "../values/rejected.ts";
import type { KeyRing } from "./key-ring.ts";

const ivBytes = 12;

/** Encrypts and decrypts texts with AES-256-GCM and a new random IV each time. */
export interface Cipher {
  /** @param associatedData says what the text belongs to; decryption needs the same associated data */
  encrypt(text: string, associatedData: string): Promise<JsonObject>;
  /** @throws StepfoldError `STORE_REJECTED` if the key is missing, or if the encrypted data or the associated data was changed */
  decrypt(encrypted: JsonObject, associatedData: string, what: string): Promise<string>;
}

/** Makes a cipher that encrypts with the first key and decrypts with all keys. */
export function cipher(ring: KeyRing): Cipher {
  return {
    async encrypt(text, associatedData) {
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
      const key = await ring.get(ring.first)!;
      const encrypted = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: utf8(associatedData) }, key, utf8(text));
      const data = new Uint8Array(ivBytes + encrypted.byteLength);
      data.set(iv);
      data.set(new Uint8Array(encrypted), ivBytes);
      return { key: ring.first, data: toBase64(data) };
    },
    async decrypt({ key: id, data }, associatedData, what) {
      const key = typeof id === "string" ? await ring.get(id) : undefined;
      if (!key)
        throw rejected(
          "encrypted",
          `${what} is encrypted with the key "${String(id)}", which is not among the keys given (${ring.ids.join(", ")})`,
        );
      try {
        const bytes = fromBase64(data as string);
        const [iv, encrypted] = [bytes.subarray(0, ivBytes), bytes.subarray(ivBytes)];
        const decrypted = await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData: utf8(associatedData) }, key, encrypted);
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(decrypted);
      } catch (cause) {
        throw rejected(
          "encrypted",
          `${what} cannot be decrypted: the key "${id}" is not the same as before, or the stored data was changed or moved`,
          cause,
        );
      }
    },
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
