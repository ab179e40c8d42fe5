/** Names of members of `globals` whose values are secrets. */
const secretKey = /secret|token|passw|pwd|api.?key|auth|credential|private|cookie|session/i;
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
];
/** The shortest secret that is removed: a shorter text is too likely to occur by chance. */
const minSecretLength = 6;
/**
 * How many characters at the beginning of a secret are enough to recognise it if its rest was cut off. Messages often show only the
 * beginning of a value that they refuse.
 */
const headLength = 12;
/** The most secrets that are collected from `globals`. */
const maxSecrets = 200;

/**
 * Returns a function that removes secrets from a text: values that `globals` holds under `secrets` or under a key that tells (`apiKey`,
 * `password`, ...), and everything that looks like a credential. The values are also recognised in JSON, base64 and URL encoding, as the
 * host of a URL, and if their end was cut off.
 */
export function scrubber(globals: unknown): (text: string) => string {
  const secrets = new Set<string>();
  collect(globals, false, secrets, new Set());
  // the longest first, because one form may contain another
  const forms = [...secrets].flatMap(formsOf).sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const form of forms) clean = clean.replaceAll(form, "***");
    for (const form of forms) clean = withoutPieces(clean, form);
    for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
    return clean;
  };
}

/** Removes the beginning of a secret, as far as the text agrees with it. */
function withoutPieces(text: string, secret: string): string {
  const head = secret.slice(0, headLength);
  if (secret.length <= headLength || !text.includes(head)) return text;
  let clean = "";
  let end = 0;
  for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, end)) {
    let length = headLength;
    while (length < secret.length && text[at + length] === secret[length]) length++;
    clean += `${text.slice(end, at)}***`;
    end = at + length;
  }
  return clean + text.slice(end);
}

/** Collects the texts in a value that are secrets. @param secret true if the value lies under a key that tells */
function collect(value: unknown, secret: boolean, found: Set<string>, seen: Set<object>): void {
  if (typeof value === "string") {
    if (secret && value.length >= minSecretLength && found.size < maxSecrets) found.add(value);
    return;
  }
  // class instances and functions are not searched: they are services, not data
  if (typeof value !== "object" || value === null || seen.has(value) || seen.size > 1_000) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value)) return;
  seen.add(value);
  for (const [key, { value: member }] of Object.entries(Object.getOwnPropertyDescriptors(value)))
    collect(member, secret || secretKey.test(key), found, seen);
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
