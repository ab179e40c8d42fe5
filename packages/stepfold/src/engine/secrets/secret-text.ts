/**
 * Decides which texts are secrets, by the name under which they stand and by how they look. Nothing else in the library decides this.
 *
 * By its looks, these are secrets:
 *
 * - a token of a known form (`sk_live_…`, `ghp_…`, a JSON Web Token, ...), also inside a longer text;
 * - a text that contains a private key in PEM form;
 * - in a URL: the password, and each part of the path and of the query that looks like a token. The rest of the URL is no secret;
 * - what follows `password=`, `AccountKey=` and the like in a text of settings, and `Bearer` or `Basic`;
 * - a text without blanks of 16 to 8,192 characters that is tangled: letters and digits change more than once in one of its words, as in
 *   `k7Fq2mZ`, or it has letters, digits and signs that no name has, such as `!` or `$`.
 *
 * These are none: UUIDs, dates and times, mail addresses, host names, IP addresses, `data:` URLs, JSON, and names of words and numbers, such as
 * `order-flow-2026`, `eu-central-1`, `/srv/app/v2/main.js` or `registry.example/app:1.2.3`. A password of words, a short one, or a UUID that is
 * a key cannot be recognised: hosts list them in the option `secrets`.
 */

/** Names of members whose values are secrets. */
export const secretName: RegExp = /secret|token|passw|pwd|api.?key|auth|credential|private|cookie|session/i;

/** The shortest secret that is removed: a shorter text is too likely to occur by chance. */
export const minSecretLength = 6;

/**
 * Tokens of known forms, anywhere in a text. All repetitions are bounded, so that the search stays linear.
 */
export const knownTokens: RegExp =
  /(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_\w{8,500}|sk-(?=[\w-]{0,100}\d)[\w-]{16,500}|gh[pousr]_[A-Za-z0-9]{16,500}|github_pat_\w{16,500}|glpat-[\w-]{16,500}|xox[abeoprs]-[\w-]{8,500}|xapp-[\w-]{8,500}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,100}|ya29\.[\w-]{16,2000}|npm_[A-Za-z0-9]{16,100}|pypi-[\w-]{16,500}|SG\.[\w-]{8,100}\.[\w-]{8,200}|whsec_[\w+/=-]{8,500}|shp(?:at|ca|pa|ss)_[A-Za-z0-9]{16,100}|dop_v1_[A-Za-z0-9]{16,200}|hf_[A-Za-z0-9]{16,100}|eyJ[\w-]{8,1000}\.[\w-]{4,4000}\.[\w-]{0,2000})/g;

/** Private keys in PEM form, anywhere in a text. */
export const privateKeys: RegExp = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g;

const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;
const url = /[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>]+/gi;
const setting = /(\w{1,60})=([^\s;&"',]+)/g;
const settingName = /(?:access|account|shared|signing|encryption).{0,10}key/i;
const header = /\b(?:Bearer|Basic)\s+(\S+)/gi;

const minTangledLength = 16;
/** A longer text is data, such as a picture: only a private key is looked for in it. */
const maxLookedAt = 8_192;

/** Returns the parts of a text that are secrets by their looks; the text itself if it is one as a whole. */
export function secretsIn(text: string): readonly string[] {
  if (text.length < minSecretLength) return [];
  if (privateKey.test(text)) return [text];
  if (text.length > maxLookedAt) return [];
  const found = new Set<string>(text.match(knownTokens));
  const urls = text.match(url) ?? [];
  for (const one of urls) for (const part of secretsInUrl(one)) found.add(part);
  for (const [, name, value] of text.matchAll(setting)) if (secretName.test(name!) || settingName.test(name!)) found.add(value!);
  for (const [, value] of text.matchAll(header)) found.add(value!);
  if (urls.length === 0 && isTangled(text)) found.add(text);
  return [...found].filter(({ length }) => length >= minSecretLength);
}

function secretsInUrl(text: string): string[] {
  const [, user = "", rest = ""] = /^[^:]+:\/\/(?:([^\s/?#]*)@)?[^/?#]*(.*)$/s.exec(text) ?? [];
  const colon = user.indexOf(":");
  const password = colon < 0 ? [user].filter(isTangled) : [user.slice(colon + 1)];
  return [...password, ...rest.split(/[/?#&=;]/).filter(isTangled)].flatMap((part) => [part, decoded(part)]);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** What has letters and digits and is no token: a time, a mail address, a host, an IP address, JSON, a `data:` URL, settings. */
const ordinary = [
  /^\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?$/i,
  /^[^\s@:/]+@(?:[a-z0-9-]+\.)+[a-z]{2,}$/i,
  /^(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?$/,
  /^\[?(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}\]?(?::\d+)?$/i,
  /^[[{]/,
  /^data:/i,
  /^\w{1,60}=[^;]*;/,
];
/** Signs that stand in names, paths and addresses. */
const notOfNames = /[^\p{L}\p{M}\d._:/\\@~+,*|{}()[\]-]/u;
/** A word in which letters and digits change more than once. */
const tangledWord = /\p{L}\d+\p{L}|\d\p{L}+\d/u;

/** Whether a text looks as if a machine had made it at random, or as a strong password. */
function isTangled(text: string): boolean {
  if (text.length < minTangledLength || text.length > maxLookedAt || /\s/.test(text)) return false;
  if (ordinary.some((form) => form.test(text))) return false;
  const rest = text.replace(uuid, "");
  if (!/\p{L}/u.test(rest) || !/\d/.test(rest)) return false;
  return notOfNames.test(rest) || tangledWord.test(rest);
}
