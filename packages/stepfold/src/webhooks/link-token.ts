import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { refuseUnknown } from "../core/values/check-arguments.ts";
import type { EpochMs, Json } from "../core/values/json.ts";
import { fromBase64Text, toBase64Url } from "../http/base64url.ts";
import { importSecret, isMacOf, macOf, type Secret } from "./hmac.ts";

/** A key that links are signed with. */
export interface LinkKey {
  /** Names the key in the links: at most 64 letters, digits, `_` and `-`. Never give one id to two keys. */
  readonly id: string;
  /** 24 to 512 random bytes. */
  readonly secret: Uint8Array;
}

/**
 * The content of the token of a link. It is signed, not encrypted: everybody who has the link can read it, and only the key can make it.
 */
export interface LinkClaims {
  readonly workflowId: string;
  /** Tells the execution apart from a later one with the same id: the link is not valid for that one. */
  readonly incarnation: string;
  readonly waitId: string;
  /** Who answers with the link. */
  readonly by?: string;
  /** The only answer that can be given with the link. */
  readonly payload?: Json;
  readonly expiresAt: EpochMs;
  /** A random number, which no two links have in common. */
  readonly nonce: string;
}

/** Makes and reads links. */
export interface LinkTokens {
  /** Makes the token of a link. @throws StepfoldError `OPTION_INVALID` if it would be too long to be read */
  write(claims: LinkClaims): Promise<string>;
  /** Reads a token; null if none of these keys has signed it. */
  read(token: string): Promise<LinkClaims | null>;
}

/** The longest token, in characters. A longer one is neither made nor read. */
const maxLength = 16_384;

/** Makes and reads tokens with these keys. @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function linkTokens(keys: readonly LinkKey[]): LinkTokens {
  const known = new Map<string, Promise<Secret>>();
  for (const key of Array.isArray(keys) ? (keys as readonly LinkKey[]) : []) {
    if (typeof key !== "object" || key === null) throw invalid("must be a list of keys, each with `id` and `secret`");
    refuseUnknown("a key of answerLinks", key, ["id", "secret"]);
    const { id, secret } = key;
    if (typeof id !== "string" || !/^[\w-]{1,64}$/.test(id))
      throw invalid("need ids of letters, digits, underscore and hyphen, at most 64");
    if (known.has(id)) throw invalid(`contain the id "${id}" twice`);
    known.set(id, importSecret("keys", secret));
  }
  const [first] = known.keys();
  if (first === undefined) throw invalid("must be a list of keys: the first one signs, all verify");
  return {
    async write(claims) {
      const signed = `v1.${first}.${toBase64Url(new TextEncoder().encode(JSON.stringify(claims)))}`;
      const token = `${signed}.${toBase64Url(await macOf(known.get(first)!, new TextEncoder().encode(signed)))}`;
      if (token.length <= maxLength) return token;
      const length = `makes a link of ${token.length} characters, but at most ${maxLength} are allowed`;
      const reason = `${length}: leave it out, so that the holder of the link enters the answer`;
      throw new StepfoldError("OPTION_INVALID", { option: "payload", reason });
    },
    async read(token) {
      const parts = typeof token === "string" && token.length <= maxLength ? token.split(".") : [];
      const [version, id = "", body = "", mac = ""] = parts;
      const [secret, bytes, given] = [known.get(id), fromBase64Text(body), fromBase64Text(mac)];
      if (parts.length !== 4 || version !== "v1" || !secret || !bytes || !given) return null;
      if (!(await isMacOf(secret, given, new TextEncoder().encode(`${version}.${id}.${body}`)))) return null;
      return JSON.parse(new TextDecoder().decode(bytes)) as LinkClaims;
    },
  };
}

function invalid(reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option: "keys", reason });
}
