/** Names of parameters that hold secrets. */
const secret = /token|pass|pwd|secret|key|credential|jwt|^auth$/i;
const hidden = "***";

/**
 * Removes passwords and tokens from the URL of a store or queue, for messages. The path of a file stays as it is. If it looks like a URL that was
 * mistyped, all of it is removed.
 */
export function publicUrl(url: string): string {
  return hide(url, []);
}

/** Removes the passwords and tokens of the URL of a store or queue from a text that may quote the URL, or a part of it. */
export function withoutSecrets(text: string, url: string): string {
  const found: string[] = [];
  const shown = hide(url, found);
  const longestFirst = found.flatMap((one) => [one, decoded(one) ?? one]).sort((one, other) => other.length - one.length);
  return longestFirst.filter(Boolean).reduce((rest, one) => rest.replaceAll(one, hidden), text.replaceAll(url, shown));
}

/**
 * Hides the secrets of a URL. The function works on the text, because a URL that cannot be parsed may hold a password too. If it is not
 * clear where the password ends, more than the password is hidden.
 *
 * @param found receives each secret
 */
function hide(url: string, found: string[]): string {
  const head = /^\s*(?:[a-z][a-z0-9+.-]+:)+(?:\/\/)?/i.exec(url)?.[0];
  const ofFile = head === undefined ? "" : /^\s*(?:sqlite|file|libsql:file):(?:\/\/)?/i.exec(url)?.[0];
  if (head === undefined || ofFile !== undefined) {
    const path = url.slice(ofFile!.length);
    return isUrlLike(path) ? ofFile + hideValue(path, found) : url;
  }
  const rest = url.slice(head.length);
  // a password may hold an "@" itself
  const at = rest.lastIndexOf("@");
  if (at === -1) return head + hideParameters(head.endsWith("//") ? hidePort(rest, found) : rest, found);
  const question = rest.slice(0, at).indexOf("?");
  // the "@" may belong to a parameter, or end a password that contains the "?"
  if (question !== -1 && !rest.slice(0, question).includes("@")) return head + hideAllAfterName(rest, question, found);
  return head + hideUser(head, rest.slice(0, at), found) + hideParameters(rest.slice(at), found);
}

/** Hides everything after the name of the user, because all of it may belong to the password. */
function hideAllAfterName(rest: string, question: number, found: string[]): string {
  const colon = rest.slice(0, question).search(/:|%3a/i);
  return colon === -1 ? hideParameters(rest, found) : `${rest.slice(0, colon)}:${hideValue(rest.slice(colon + 1), found)}`;
}

/** Hides the password or the token before the "@". */
function hideUser(head: string, user: string, found: string[]): string {
  const colon = /:|%3a/i.exec(user);
  if (colon) {
    const [name, password] = [user.slice(0, colon.index + colon[0].length), user.slice(colon.index + colon[0].length)];
    return name + hideValue(password, found);
  }
  // with these two schemes the user is a token and not a name; without slashes it may be one too
  return /^\s*(upstash|libsql):/i.test(head) || !head.endsWith("//") ? hideValue(user, found) : hideParameters(user, found);
}

/** Hides a port that is not a number, because it may be the password of a URL whose host is missing. */
function hidePort(rest: string, found: string[]): string {
  const [authority = ""] = /^[^/?#]*/.exec(rest)!;
  const wrong = /:(?!\d*(?:$|,))/.exec(authority.replace(/\[[^\]]*\]/g, (address) => "x".repeat(address.length)));
  return wrong ? rest.slice(0, wrong.index + 1) + hideValue(rest.slice(wrong.index + 1), found) : rest;
}

/** Hides the values of parameters that hold secrets, and the secrets of values that are URLs themselves. */
function hideParameters(text: string, found: string[]): string {
  return text.replace(/([?&])([^=&?]*)=([^&]*)/g, (_all, before: string, name: string, value: string) => {
    const plain = decoded(value);
    const isSecret = secret.test(decoded(name) ?? "secret") || plain === null || (/[:=;]/.test(plain) && secret.test(plain));
    if (isSecret) return `${before}${name}=${hideValue(value, found)}`;
    const shown = hide(plain, found);
    return `${before}${name}=${shown === plain ? value : shown}`;
  });
}

/** Whether a text without a known scheme is probably a URL: in what it says, there may be a password. */
export function isUrlLike(text: string): boolean {
  return [text, decoded(text) ?? text].some((one) => {
    const path = one.trim().replace(/^[a-z]:(?=[\\/])/i, "");
    return /^\/\/|:\/\/|["'`]/.test(path) || (path.includes(":") && path.includes("@"));
  });
}

function hideValue(value: string, found: string[]): string {
  if (value === "") return "";
  found.push(value);
  return hidden;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
