const secretKey = /secret|token|passw|pwd|api.?key|auth|credential|private|cookie|session/i;
/** After a colon a bare word may be prose: "token: renew it". */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, "$1 ***"],
  [/(:\/\/)[^\s/?#@]+@/g, "$1***@"],
  [
    /\b((?:api[-_]?key|access[-_]?token|client[-_]?secret|password|secret|token)["']?(?:\s*=\s*["']?|\s*:\s*["']|\s*:\s*(?=\S{0,200}\d)))[^\s"'&,;]{4,}/gi,
    "$1***",
  ],
];
/** Shorter texts are too likely to occur by chance. */
const minSecretLength = 6;
/** So many characters at its beginning tell a secret whose rest was cut off: messages show the beginning of what they refuse. */
const headLength = 12;
const maxSecrets = 200;

/**
 * A function that takes secrets out of a text: values that `globals` holds under `secrets` or under a telling key
 * (`apiKey`, `password`, ...), also in JSON, base64 and URL encoding, as the host of a URL, and cut off; and whatever looks like a
 * credential.
 */
export function scrubber(globals: unknown): (text: string) => string {
  const secrets = new Set<string>();
  collect(globals, false, secrets, new Set());
  const forms = [...secrets].flatMap(formsOf).sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const form of forms) clean = clean.replaceAll(form, "***");
    for (const form of forms) clean = withoutPieces(clean, form);
    for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
    return clean;
  };
}

/** Takes out what is the beginning of a secret, as far as it goes. */
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
  // a multiple of three bytes has no padding that depends on what follows
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
  const base64 = btoa(Array.from(whole, (byte) => String.fromCharCode(byte)).join(""));
  // half a character cannot be URL encoded
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
