import { readTimestamp } from "../../core/values/timestamp.ts";
import { boundsMistake } from "../../expressions/pattern/pattern-syntax.ts";

/**
 * The formats of strings that are checked; any other format accepts every text. The time of each check grows only with the length of the
 * text, because no regular expression here has two ways to match the same characters.
 */
export const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date", isDate],
  ["time", isTime],
  ["date-time", isDateTime],
  ["duration", isDuration],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["uri", (text: string) => isUri(text, true)],
  ["uri-reference", (text: string) => isUri(text, false)],
  ["uri-template", isUriTemplate],
  ["url", isUrl],
  ["uuid", (text: string) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text)],
  ["json-pointer", isPointer],
  ["json-pointer-uri-fragment", (text: string) => text.startsWith("#") && isUri(text, false) && isPointer(decoded(text.slice(1)))],
  ["relative-json-pointer", isRelativePointer],
  ["regex", isRegex],
]);

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && readTimestamp(text) !== undefined;
}

function isTime(text: string): boolean {
  return isDateTime(`2000-01-01T${text}`);
}

/** By RFC 3339, which also allows a blank in place of the `T`. */
function isDateTime(text: string): boolean {
  const isComplete = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text);
  return isComplete && readTimestamp(text) !== undefined;
}

function isDuration(text: string): boolean {
  if (/^P\d+W$/.test(text)) return true;
  const parts = /^P(?:\d+Y)?(?:\d+M)?(?:\d+D)?(T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/.exec(text);
  // a unit in the middle must not be left out: years and days need months, and hours and seconds need minutes
  return parts !== null && text !== "P" && parts[1] !== "T" && !/Y\d+D|H\d+S/.test(text);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const name = text.slice(0, at);
  const host = text.slice(at + 1);
  if (at < 1 || name.length > 64) return false;
  const isQuoted = /^"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(name);
  if (!isQuoted && !/^[a-z\d!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z\d!#$%&'*+/=?^_`{|}~-]+)*$/i.test(name)) return false;
  if (!host.startsWith("[")) return isHostname(host);
  const address = host.endsWith("]") ? host.slice(1, -1) : "";
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address);
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => label.length <= 63 && /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i.test(label));
}

function isIpv4(text: string): boolean {
  return text.length <= 15 && /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1)!.at(-1);
  const hasIpv4 = last?.includes(".") === true;
  const all = groups.flat();
  const count = all.length + (hasIpv4 ? 1 : 0);
  if (hasIpv4 && !isIpv4(last!)) return false;
  if (!(hasIpv4 ? all.slice(0, -1) : all).every((group) => /^[\da-f]{1,4}$/i.test(group))) return false;
  return halves.length === 1 ? count === 8 : halves.length === 2 && count <= 7;
}

/** A URI by RFC 3986, or a reference to one. */
function isUri(text: string, isAbsolute: boolean): boolean {
  // the regular expression of appendix B of the RFC: it splits every text in exactly one way
  const [, , scheme, , authority, path = ""] = /^(([^:/?#]+):)?(\/\/([^/?#]*))?([^?#]*)(?:\?[^#]*)?(?:#.*)?$/su.exec(text) ?? [];
  if (scheme === undefined ? isAbsolute : !/^[a-z][a-z\d+.-]*$/i.test(scheme)) return false;
  const rest = authority === undefined ? text : text.replace(authority, "");
  if (!/^(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?$/i.test(rest)) return false;
  // without a scheme, the first part of a path must not have a colon, because it would be read as a scheme
  if (scheme === undefined && authority === undefined && path.split("/", 1)[0]!.includes(":")) return false;
  return authority === undefined || isAuthority(authority);
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at >= 0 && !/^(?:[\w.~!$&'()*+,;=:-]|%[\da-f]{2})*$/i.test(text.slice(0, at))) return false;
  const place = text.slice(at + 1);
  const port = /:\d*$/.exec(place)?.[0] ?? "";
  const host = place.slice(0, place.length - port.length);
  if (!host.startsWith("[")) return /^(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*$/i.test(host);
  return host.endsWith("]") && (isIpv6(host.slice(1, -1)) || /^\[v[\da-f]+\.[\w.~!$&'()*+,;=:-]+\]$/i.test(host));
}

/** A web address: `http`, `https` or `ftp` with a host. Letters outside of ASCII need not be encoded. */
function isUrl(text: string): boolean {
  if (!/^(?:https?|ftp):\/\/[^\s/?#]/i.test(text) || /\s/.test(text)) return false;
  return URL.canParse(text);
}

function isUriTemplate(text: string): boolean {
  // `names` are the parts in braces, and `literal` is the text without them
  const names = text.match(/\{[^{}]*\}/g) ?? [];
  const literal = text.replace(/\{[^{}]*\}/g, "");
  if (!/^(?:[^\s\p{Cc}"<>%\\^`{|}]|%[\da-f]{2})*$/iu.test(literal)) return false;
  return names.every(
    (name) =>
      /^\{[+#./;?&=,!@|]?[^{}+#/;?&=!@|]+\}$/.test(name) &&
      name
        .slice(/^\{[+#./;?&=,!@|]/.test(name) ? 2 : 1, -1)
        .split(",")
        .every((variable) => /^(?:\w|%[\da-f]{2})+(?:\.(?:\w|%[\da-f]{2})+)*(?::[1-9]\d{0,3}|\*)?$/i.test(variable)),
  );
}

function isPointer(text: string): boolean {
  return text === "" || (text.startsWith("/") && !/~(?![01])/.test(text));
}

function isRelativePointer(text: string): boolean {
  const begin = /^(?:0|[1-9]\d*)/.exec(text)?.[0];
  if (begin === undefined) return false;
  const rest = text.slice(begin.length);
  return rest === "#" || isPointer(rest);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // this text is not a JSON pointer, so the value is refused
    return "~";
  }
}

function isRegex(text: string): boolean {
  if (boundsMistake(text) !== undefined) return false;
  // `\Z` is the end of a text in other languages, but not in JavaScript
  if (/(?:^|[^\\])\\Z/.test(text)) return false;
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}
