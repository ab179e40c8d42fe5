import { type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import type { Callback, ListedFunction } from "./argument.ts";
import { flatten } from "./array-methods.ts";

type Items = readonly unknown[];
type Loop = (frame: Frame, run: Callback, self: Items) => unknown;

/** Makes a method that calls an arrow function. The parser refuses these methods without one, so `callback` is never null. */
const loop =
  (work: Loop): ListedFunction<Items> =>
  (frame, site, self) =>
    work(frame, site.callback!, self);

const map: Loop = (frame, run, self) => {
  const result: unknown[] = [];
  for (let index = 0; index < self.length; index++) {
    grow(frame, 8);
    result.push(run(frame, self[index], index, self));
  }
  return result;
};

const filter: Loop = (frame, run, self) => {
  const result: unknown[] = [];
  for (let index = 0; index < self.length; index++) {
    if (!run(frame, self[index], index, self)) continue;
    grow(frame, 8);
    result.push(self[index]);
  }
  return result;
};

const flatMap: Loop = (frame, run, self) => {
  const result: unknown[] = [];
  for (let index = 0; index < self.length; index++) {
    const item = run(frame, self[index], index, self);
    if (Array.isArray(item)) flatten(frame, result, item, 0);
    else flatten(frame, result, [item], 0);
  }
  return result;
};

/** Returns the index of the first item for which the arrow function returns `wanted`, or -1. */
function seek(frame: Frame, run: Callback, self: Items, wanted: boolean): number {
  for (let index = 0; index < self.length; index++) {
    if (Boolean(run(frame, self[index], index, self)) === wanted) return index;
  }
  return -1;
}

const findLastIndex = (frame: Frame, run: Callback, self: Items): number => {
  for (let index = self.length - 1; index >= 0; index--) if (run(frame, self[index], index, self)) return index;
  return -1;
};

const reduce: ListedFunction<Items> = (frame, site, self, args) => {
  let index = 0;
  if (args.length === 0) {
    if (self.length === 0)
      failEvaluation(frame, site.position, "reduce of an empty array needs a start value: reduce((sum, x) => sum + x, 0)");
    index = 1;
  }
  let result = args.length === 0 ? self[0] : args[0];
  for (; index < self.length; index++) result = site.callback!(frame, result, self[index], index);
  return result;
};

/** The methods of arrays that need an arrow function. */
export const arrayCallbacks: ReadonlyMap<string, ListedFunction<Items>> = new Map<string, ListedFunction<Items>>([
  ["map", loop(map)],
  ["filter", loop(filter)],
  ["flatMap", loop(flatMap)],
  ["find", loop((frame, run, self) => self[seek(frame, run, self, true)])],
  ["findIndex", loop((frame, run, self) => seek(frame, run, self, true))],
  ["findLast", loop((frame, run, self) => self[findLastIndex(frame, run, self)])],
  ["findLastIndex", loop(findLastIndex)],
  ["some", loop((frame, run, self) => seek(frame, run, self, true) !== -1)],
  ["every", loop((frame, run, self) => seek(frame, run, self, false) === -1)],
  ["reduce", reduce],
]);
