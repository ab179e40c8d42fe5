import { toText } from "../evaluation/coerce.ts";
import { charge, exceeded, failEvaluation, grow } from "../evaluation/frame.ts";
import { kindOf } from "../evaluation/read-member.ts";
import { PatternValue } from "../pattern/pattern-value.ts";
import { chargeSearch, type ListedFunction, textAt, wholeAt } from "./argument.ts";
import { extraFunction } from "./extra-functions.ts";

/** Makes a method whose result is about as long as `self`, and pays for the result. */
const same =
  (change: (self: string) => string): ListedFunction<string> =>
  (frame, _, self) => {
    grow(frame, self.length);
    return change(self);
  };

const search =
  (find: (self: string, part: string, from: number | undefined) => unknown): ListedFunction<string> =>
  (frame, site, self, args) => {
    const part = textAt(frame, site, args, 0);
    chargeSearch(frame, self, part);
    return find(self, part, args[1] === undefined ? undefined : wholeAt(frame, site, args, 1, 0));
  };

const part =
  (cut: (self: string, from: number, to: number) => string): ListedFunction<string> =>
  (frame, site, self, args) => {
    const result = cut(self, wholeAt(frame, site, args, 0, 0), wholeAt(frame, site, args, 1, self.length));
    grow(frame, result.length);
    return result;
  };

const substr: ListedFunction<string> = (frame, site, self, args) => {
  const asked = wholeAt(frame, site, args, 0, 0);
  const from = asked < 0 ? Math.max(0, self.length + asked) : asked;
  const result = self.slice(from, from + Math.max(0, wholeAt(frame, site, args, 1, self.length)));
  grow(frame, result.length);
  return result;
};

const pad =
  (fill: (self: string, length: number, filler: string) => string): ListedFunction<string> =>
  (frame, site, self, args) => {
    const length = wholeAt(frame, site, args, 0, 0);
    grow(frame, Math.max(length, self.length));
    return fill(self, length, textAt(frame, site, args, 1, " "));
  };

const letter =
  (read: (self: string, index: number) => unknown): ListedFunction<string> =>
  (frame, site, self, args) =>
    read(self, wholeAt(frame, site, args, 0, 0));

const repeat: ListedFunction<string> = (frame, site, self, args) => {
  const times = wholeAt(frame, site, args, 0, 0);
  if (times < 0) failEvaluation(frame, site.position, "repeat needs a number that is not negative");
  // An empty text needs no room, but for Infinity `grow` would get NaN and `repeat` would throw. So the number itself is limited.
  if (times > frame.unit.limits.outputLength) exceeded(frame, "characters of output", frame.unit.limits.outputLength);
  grow(frame, self.length * times);
  return self.repeat(times);
};

/**
 * The forms of `split` and `replace` for regular expressions. They are
 * extra functions, which an expression with a regular expression loads.
 */
const splitByPattern: ListedFunction = extraFunction("split");
const replacePattern: ListedFunction = extraFunction("replace");

/** Splits a text. It never makes more pieces than one more than the steps that are left, which is enough to exceed the limit. */
const split: ListedFunction<string> = (frame, site, self, args) => {
  if (args[0] instanceof PatternValue) return splitByPattern(frame, site, self, args);
  if (args[0] === undefined) return [self];
  const separator = textAt(frame, site, args, 0);
  chargeSearch(frame, self, separator);
  const wanted = wholeAt(frame, site, args, 1, Number.MAX_SAFE_INTEGER);
  const pieces = self.split(separator, Math.max(0, Math.min(wanted < 0 ? Number.MAX_SAFE_INTEGER : wanted, frame.stepsLeft + 1)));
  charge(frame, pieces.length);
  grow(frame, self.length + 8 * pieces.length);
  return pieces;
};

/** Replaces all occurrences of a text. `$&` and the like have a meaning in the replacement only if a regular expression is replaced. */
const replaceAll: ListedFunction<string> = (frame, site, self, args) => {
  if (args[0] instanceof PatternValue) return replacePattern(frame, site, self, args);
  const wanted = textAt(frame, site, args, 0);
  const replacement = textAt(frame, site, args, 1);
  chargeSearch(frame, self, wanted);
  const pieces = self.split(wanted, frame.stepsLeft + 1);
  if (wanted === "") pieces.push("") && pieces.unshift("");
  charge(frame, pieces.length);
  grow(frame, self.length + (pieces.length - 1) * (replacement.length - wanted.length));
  return pieces.join(replacement);
};

const replace: ListedFunction<string> = (frame, site, self, args) => {
  if (args[0] instanceof PatternValue) return replacePattern(frame, site, self, args);
  const wanted = textAt(frame, site, args, 0);
  const replacement = textAt(frame, site, args, 1);
  chargeSearch(frame, self, wanted);
  grow(frame, self.length + replacement.length);
  return self.replace(wanted, () => replacement);
};

const concat: ListedFunction<string> = (frame, site, self, args) => {
  const texts = args.map((arg) => toText(frame, site.position, arg));
  grow(
    frame,
    texts.reduce((sum, text) => sum + text.length, self.length),
  );
  return self.concat(...texts);
};

const normalForms: ReadonlySet<unknown> = new Set(["NFC", "NFD", "NFKC", "NFKD"]);

const normalize: ListedFunction<string> = (frame, site, self, args) => {
  const form = args[0] ?? "NFC";
  if (!normalForms.has(form)) failEvaluation(frame, site.position, `normalize needs NFC, NFD, NFKC or NFKD, not ${kindOf(args[0])}`);
  // No form makes a text more than 18 times as long.
  grow(frame, self.length * 18);
  return self.normalize(form as string);
};

/** The methods of texts. None of them depends on a locale. */
export const textMethods: ReadonlyMap<string, ListedFunction<string>> = new Map<string, ListedFunction<string>>([
  ["toUpperCase", same((self) => self.toUpperCase())],
  ["toLowerCase", same((self) => self.toLowerCase())],
  ["trim", same((self) => self.trim())],
  ["trimStart", same((self) => self.trimStart())],
  ["trimEnd", same((self) => self.trimEnd())],
  ["toString", (_, __, self) => self],
  ["includes", search((self, text, from) => self.includes(text, from))],
  ["startsWith", search((self, text, from) => self.startsWith(text, from))],
  ["endsWith", search((self, text, to) => self.endsWith(text, to))],
  ["indexOf", search((self, text, from) => self.indexOf(text, from))],
  ["lastIndexOf", search((self, text, from) => self.lastIndexOf(text, from))],
  ["slice", part((self, from, to) => self.slice(from, to))],
  ["substr", substr],
  ["substring", part((self, from, to) => self.substring(from, to))],
  ["padStart", pad((self, length, filler) => self.padStart(length, filler))],
  ["padEnd", pad((self, length, filler) => self.padEnd(length, filler))],
  ["at", letter((self, index) => self.at(index))],
  ["charAt", letter((self, index) => self.charAt(index))],
  ["charCodeAt", letter((self, index) => self.charCodeAt(index))],
  ["codePointAt", letter((self, index) => self.codePointAt(index))],
  ["repeat", repeat],
  ["split", split],
  ["replace", replace],
  ["replaceAll", replaceAll],
  ["concat", concat],
  ["normalize", normalize],
]);
