import { toText } from "../evaluation/coerce.ts";
import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { type ListedFunction, textAt, wholeAt } from "./argument.ts";
import { operators } from "./operate.ts";

type Items = readonly unknown[];

const { at, includes, indexOf, lastIndexOf } = Array.prototype as Items;

/**
 * Copies a part of an array. It calls no method of the array, because an
 * array from the host may have a method of its own in that place.
 */
function copyOf(self: Items, from: number, to: number): unknown[] {
  const items: unknown[] = [];
  for (let index = from; index < to; index++) items.push(self[index]);
  return items;
}

/** Pays for a new array. */
function payItems(frame: Frame, length: number): void {
  charge(frame, length);
  grow(frame, 8 * length);
}

const search =
  (find: (self: Items, item: unknown) => unknown): ListedFunction<Items> =>
  (frame, _, self, args) => {
    const [item] = args;
    charge(frame, self.length * (1 + (typeof item === "string" ? item.length >>> 10 : 0)));
    return find(self, item);
  };

const slice: ListedFunction<Items> = (frame, site, self, args) => {
  const from = wholeAt(frame, site, args, 0, 0);
  const to = wholeAt(frame, site, args, 1, self.length);
  const place = (index: number): number => (index < 0 ? Math.max(0, self.length + index) : Math.min(index, self.length));
  payItems(frame, Math.max(0, place(to) - place(from)));
  return copyOf(self, place(from), place(to));
};

const concat: ListedFunction<Items> = (frame, _, self, args) => {
  payItems(
    frame,
    args.reduce<number>((sum, arg) => sum + (Array.isArray(arg) ? arg.length : 1), self.length),
  );
  const result = copyOf(self, 0, self.length);
  for (const arg of args) {
    if (Array.isArray(arg)) for (let index = 0; index < arg.length; index++) result.push(arg[index]);
    else result.push(arg);
  }
  return result;
};

/** How deep `flat` goes at most, also as `flat(Infinity)`. */
const maxFlatDepth = 32;

const flat: ListedFunction<Items> = (frame, site, self, args) => {
  const result: unknown[] = [];
  flatten(frame, result, self, Math.min(maxFlatDepth, wholeAt(frame, site, args, 0, 1)));
  return result;
};

/** Adds `items` to `result`. An array among them is replaced by its own items, up to `depth` levels deep. */
export function flatten(frame: Frame, result: unknown[], items: Items, depth: number): void {
  payItems(frame, items.length);
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (Array.isArray(item) && depth > 0) flatten(frame, result, item, depth - 1);
    else result.push(item);
  }
}

/** Joins the texts of items. Null and undefined become an empty text, objects become their JSON. */
const join: ListedFunction<Items> = (frame, site, self, args) => {
  const separator = textAt(frame, site, args, 0, ",");
  charge(frame, self.length);
  grow(frame, separator.length * Math.max(0, self.length - 1));
  const texts: string[] = [];
  for (let index = 0; index < self.length; index++) {
    const item = self[index];
    const text = item === null || item === undefined ? "" : toText(frame, site.position, item);
    grow(frame, text.length);
    texts.push(text);
  }
  return texts.join(separator);
};

const reverse: ListedFunction<Items> = (frame, _, self) => {
  payItems(frame, self.length);
  return copyOf(self, 0, self.length).reverse();
};

/** Sorts items. Without an arrow function they are compared as texts, as in JavaScript: `[10, 9].sort()` returns `[10, 9]`. */
const sort: ListedFunction<Items> = (frame, site, self) => {
  payItems(frame, self.length);
  const { callback, position } = site;
  const items = copyOf(self, 0, self.length);
  if (callback !== null) {
    return items.sort((a, b) => {
      const verdict = callback(frame, a, b, undefined);
      if (typeof verdict !== "number")
        failEvaluation(frame, position, `the arrow function of ${site.name} must give a number: (a, b) => a - b`);
      return verdict;
    });
  }
  const pairs = items.map((item) => (item === undefined ? undefined : { item, text: toText(frame, position, item) }));
  const sorted = pairs.toSorted((a, b) => {
    charge(frame, 1);
    if (operators["<"](frame, position, a!.text, b!.text)) return -1;
    return operators[">"](frame, position, a!.text, b!.text) ? 1 : 0;
  });
  return sorted.map((pair) => pair?.item);
};

/** The methods of arrays that need no arrow function. No method changes its array: `sort` and `reverse` return a new one. */
export const arrayMethods: ReadonlyMap<string, ListedFunction<Items>> = new Map<string, ListedFunction<Items>>([
  ["includes", search((self, item) => includes.call(self, item))],
  ["indexOf", search((self, item) => indexOf.call(self, item))],
  ["lastIndexOf", search((self, item) => lastIndexOf.call(self, item))],
  ["at", (frame, site, self, args) => at.call(self, wholeAt(frame, site, args, 0, 0))],
  ["slice", slice],
  ["concat", concat],
  ["flat", flat],
  ["join", join],
  ["reverse", reverse],
  ["toReversed", reverse],
  ["sort", sort],
  ["toSorted", sort],
  ["toString", (frame, site, self) => toText(frame, site.position, self)],
]);
