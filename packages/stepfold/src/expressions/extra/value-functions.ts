import { canonicalJson } from "../../core/values/canonical-json.ts";
import type { Json } from "../../core/values/json.ts";
import { payToParse, toJson, toNumber, toText } from "../evaluation/coerce.ts";
import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { plainCopy } from "../evaluation/plain-copy.ts";
import { isPlain, kindOf, readMember } from "../evaluation/read-member.ts";
import { type CallSite, type ListedFunction, textAt, wholeAt } from "../functions/argument.ts";
import { functions, namespaces } from "../functions/functions.ts";

type Items = readonly unknown[];

/** Makes a method of arrays. It pays one step and eight characters of output for each item. */
const ofItems =
  (work: (items: Items, frame: Frame, site: CallSite, args: readonly unknown[]) => unknown): ListedFunction =>
  (frame, site, self, args) => {
    if (!Array.isArray(self)) failEvaluation(frame, site.position, `${site.name}() works on arrays, not on ${kindOf(self)}`);
    charge(frame, self.length);
    grow(frame, 8 * self.length);
    return work(self, frame, site, args);
  };

const ofNumber =
  (work: (self: number, frame: Frame, site: CallSite, args: readonly unknown[]) => unknown): ListedFunction =>
  (frame, site, self, args) => {
    if (typeof self !== "number") failEvaluation(frame, site.position, `${site.name}() works on numbers, not on ${kindOf(self)}`);
    return work(self, frame, site, args);
  };

const ofText =
  (work: (self: string) => unknown): ListedFunction =>
  (frame, site, self) => {
    const text = textAt(frame, site, [self], 0);
    charge(frame, text.length / 64);
    grow(frame, text.length * 2);
    return work(text);
  };

/** Pays one step for each key of an object: the JavaScript engine lists all keys before it gives the first one. */
function isEmpty(frame: Frame, value: unknown): boolean {
  if (Array.isArray(value) || typeof value === "string") return value.length === 0;
  if (!isPlain(value)) return value === null || value === undefined;
  const { length } = Object.keys(value);
  charge(frame, length);
  return length === 0;
}

/** Keeps the first of the items that are equal as JSON. With keys, only those members are compared. */
const unique = ofItems((items, frame, site, keys) => {
  const seen = new Set<string>();
  return items.filter((item) => {
    const compared =
      keys.length === 0 ? item : keys.map((_, index) => memberOf(frame, site, item, textAt(frame, site, keys, index)) ?? null);
    const text = canonicalJson((plainCopy(frame, site.position, compared) ?? null) as Json);
    return !seen.has(text) && seen.add(text);
  });
});

function memberOf(frame: Frame, site: CallSite, item: unknown, key: string): unknown {
  if (key === "__proto__") failEvaluation(frame, site.position, '"__proto__" cannot be read: expressions see plain data only');
  return isPlain(item) ? readMember(frame, item, key, site.position) : undefined;
}

const pluck = ofItems((items, frame, site, keys) =>
  items.map((item) => {
    if (keys.length === 1) return memberOf(frame, site, item, textAt(frame, site, keys, 0));
    grow(frame, 16 * keys.length);
    return Object.fromEntries(
      keys.map((_, index) => textAt(frame, site, keys, index)).map((key) => [key, memberOf(frame, site, item, key)]),
    );
  }),
);

const chunk = ofItems((items, frame, site, args) => {
  const size = wholeAt(frame, site, args, 0, 1);
  if (size < 1) failEvaluation(frame, site.position, "chunk needs a size of at least 1");
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
});

const fold = (work: (numbers: readonly number[]) => number): ListedFunction =>
  ofItems((items, frame, site) => work(items.map((item) => toNumber(frame, site.position, item))));
const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** Makes `first` or `last`: without an argument the item itself, else an array of that many items. */
const edge = (pick: (items: Items, count: number) => Items): ListedFunction =>
  ofItems((items, frame, site, args) =>
    args.length === 0 ? pick(items, 1)[0] : pick(items, Math.max(0, wholeAt(frame, site, args, 0, 1))),
  );

const number: ListedFunction = (frame, site, self) => toNumber(frame, site.position, self);

const boolean: ListedFunction = (_, __, self) =>
  typeof self === "string" && self.length <= 5 ? !["", "0", "no", "false"].includes(self.toLowerCase()) : Boolean(self);

const hasField: ListedFunction = (frame, site, self, args) => {
  const key = textAt(frame, site, args, 0);
  return (isPlain(self) || Array.isArray(self)) && Object.hasOwn(self, key);
};

const ofObject = (name: "keys" | "values"): ListedFunction => {
  const list = namespaces.get("Object")!.get(name)!;
  return (frame, site, self) => list(frame, site, undefined, [self]);
};

/** Makes a method of a function: the value that the method is called on becomes the argument of the function. */
const methodOf = (name: string): ListedFunction => {
  const change = functions.get(name)!;
  return (frame, site, self) => change(frame, site, undefined, [self]);
};

/** Makes a method that capitalises the letters that `start` matches, and changes all other letters to lower case. */
const titled = (start: RegExp): ListedFunction => ofText((self) => self.toLowerCase().replace(start, (letter) => letter.toUpperCase()));

/** The methods and functions of n8n. `keys` and `values` of an array are those of `Object.keys` and `Object.values`, not iterators. */
export const valueFunctions: readonly (readonly [string, ListedFunction])[] = [
  ["isEmpty", (frame, _, self) => isEmpty(frame, self)],
  ["isNotEmpty", (frame, _, self) => !isEmpty(frame, self)],
  ["toJsonString", (frame, site, self) => toJson(frame, site.position, self, "")],
  ["parseJson", (frame, site, self) => namespaces.get("JSON")!.get("parse")!(frame, site, undefined, [self])],
  ["toInt", (frame, site, self) => Math.trunc(Number.parseFloat(payToParse(frame, toText(frame, site.position, self))))],
  ["toNumber", number],
  ["toFloat", number],
  ["toBoolean", boolean],
  ["toTitleCase", titled(/(?<=^|\s)\S/gu)],
  ["toSentenceCase", titled(/^\S/u)],
  ["urlEncode", methodOf("encodeURIComponent")],
  ["urlDecode", methodOf("decodeURIComponent")],
  ["removeTags", ofText(withoutTags)],
  ["first", edge((items, count) => items.slice(0, count))],
  ["last", edge((items, count) => items.slice(Math.max(0, items.length - count)))],
  ["unique", unique],
  ["removeDuplicates", unique],
  ["sum", fold(sumOf)],
  ["average", fold((numbers) => sumOf(numbers) / numbers.length)],
  ["min", fold((numbers) => numbers.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY))],
  ["max", fold((numbers) => numbers.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY))],
  ["pluck", pluck],
  ["chunk", chunk],
  ["compact", ofItems((items, frame) => items.filter((item) => !isEmpty(frame, item)))],
  [
    "round",
    ofNumber((self, frame, site, args) => {
      const digits = wholeAt(frame, site, args, 0, 0);
      charge(frame, 1);
      return digits === 0 ? Math.round(self) : Number(self.toFixed(Math.min(100, Math.max(0, digits))));
    }),
  ],
  ["floor", ofNumber((self) => Math.floor(self))],
  ["ceil", ofNumber((self) => Math.ceil(self))],
  ["abs", ofNumber((self) => Math.abs(self))],
  ["isEven", ofNumber((self) => self % 2 === 0)],
  ["isOdd", ofNumber((self) => Math.abs(self % 2) === 1)],
  ["keys", ofObject("keys")],
  ["values", ofObject("values")],
  ["hasField", hasField],
  ["hasOwnProperty", hasField],
  ["$if", (_, __, ___, args) => (args[0] ? args[1] : args[2])],
  ["$ifEmpty", (frame, _, __, args) => (isEmpty(frame, args[0]) ? args[1] : args[0])],
  ["$min", (frame, site, _, args) => namespaces.get("Math")!.get("min")!(frame, site, undefined, args)],
  ["$max", (frame, site, _, args) => namespaces.get("Math")!.get("max")!(frame, site, undefined, args)],
];

/** Removes tags. It uses no regular expression, because that would search to the end of the text for every `<`. */
function withoutTags(text: string): string {
  let result = "";
  let from = 0;
  for (let open = text.indexOf("<"); open !== -1; open = text.indexOf("<", from)) {
    const close = text.indexOf(">", open);
    if (close === -1) break;
    result += text.slice(from, open);
    from = close + 1;
  }
  return result + text.slice(from);
}
