import { knownTokens, minSecretLength, privateKeys } from "./secret-text.ts";

/** Removes secrets from a text. */
export type Scrub = (text: string) => string;

const mask = "***";
/**
 * Texts that look like credentials, and what takes their place. After a colon, a word without quotes counts only if it has a digit, because
 * it may be prose: "token: renew it".
 */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, "$1 ***"],
  [/(:\/\/)[^\s/?#@]+@/g, "$1***@"],
  [
    /\b((?:api[-_]?key|access[-_]?token|client[-_]?secret|password|secret|token)["']?(?:\s*=\s*["']?|\s*:\s*["']|\s*:\s*(?=\S{0,200}\d)))[^\s"'&,;]{4,}/gi,
    "$1***",
  ],
  [knownTokens, mask],
  [privateKeys, mask],
];
/**
 * How many characters at the beginning of a secret are enough to recognise it if its rest was cut off. Messages often show only the
 * beginning of a value that they refuse.
 */
const headLength = 12;

/**
 * Returns a function that removes secrets from a text, and everything in it that looks like a credential. Secrets are also recognised in
 * JSON, base64 and URL encoding, as the host of a URL, and if their end was cut off.
 */
export function scrubber(secrets: Iterable<string>): Scrub {
  const forms = formsByBeginning(secrets);
  return (text) => {
    let clean = forms.size === 0 ? text : withoutForms(text, forms);
    for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
    return clean;
  };
}

/** All forms of all secrets, by their first characters: so the time for a text hardly depends on the number of secrets. */
function formsByBeginning(secrets: Iterable<string>): ReadonlyMap<string, readonly string[]> {
  const forms = new Map<string, string[]>();
  for (const form of new Set([...secrets].flatMap(formsOf))) {
    const beginning = form.slice(0, minSecretLength);
    const others = forms.get(beginning);
    if (others) others.push(form);
    else forms.set(beginning, [form]);
  }
  return forms;
}

/** Removes all forms of secrets, whole and cut off. What overlaps is removed together. */
function withoutForms(text: string, forms: ReadonlyMap<string, readonly string[]>): string {
  let clean = "";
  /** The place behind what was copied or removed last. */
  let end = 0;
  let isHidden = false;
  for (let at = 0; at + minSecretLength <= text.length; at++) {
    const candidates = forms.get(text.slice(at, at + minSecretLength));
    if (!candidates) continue;
    const until = at + longest(text, at, candidates);
    if (until <= at || until <= end) continue;
    if (at >= end || !isHidden) clean += `${text.slice(end, at)}${mask}`;
    end = until;
    isHidden = true;
  }
  return clean + text.slice(end);
}

/** Returns the length of the longest piece of a secret that begins at this place; 0 if there is none. */
function longest(text: string, at: number, forms: readonly string[]): number {
  let found = 0;
  for (const form of forms) {
    if (form.length <= found) continue;
    if (text.startsWith(form, at)) found = form.length;
    else if (form.length > headLength && text.startsWith(form.slice(0, headLength), at)) {
      let length = headLength;
      while (text[at + length] === form[length]) length++;
      found = Math.max(found, length);
    }
  }
  return found;
}

/** The secret as it may appear: plain, as a host of a URL, in a JSON text, URL encoded, in base64. */
function formsOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  // only whole groups of three bytes are encoded, because their base64 text does not depend on the bytes that follow
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
  const base64 = btoa(Array.from(whole, (byte) => String.fromCharCode(byte)).join(""));
  // half of a surrogate pair cannot be URL encoded
  const encoded = encodeURIComponent(secret.replace(/\p{Surrogate}/gu, ""));
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [secret, secret.toLowerCase(), json, JSON.stringify(json).slice(1, -1), encoded, encoded.replaceAll("%20", "+")];
  forms.push(
    encoded.replace(/%../g, (byte) => byte.toLowerCase()),
    base64,
    base64.replaceAll("+", "-").replaceAll("/", "_"),
  );
  return [...new Set(forms)].filter(({ length }) => length >= minSecretLength);
}
