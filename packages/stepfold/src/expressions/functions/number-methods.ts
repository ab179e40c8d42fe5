import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { type ListedFunction, wholeAt } from "./argument.ts";

/** Pays for a text of digits. It has at most about 1,100 digits, so it may be paid for after it was made. */
function paid(frame: Frame, text: string): string {
  charge(frame, text.length / 64);
  grow(frame, text.length);
  return text;
}

const digits =
  (write: (self: number, digits: number) => string, least: number): ListedFunction<number> =>
  (frame, site, self, args) => {
    const count = wholeAt(frame, site, args, 0, least);
    if (count < least || count > 100) failEvaluation(frame, site.position, `${site.name} needs a number from ${least} to 100`);
    charge(frame, count / 64);
    return paid(frame, write(self, count));
  };

/** The methods of numbers. */
export const numberMethods: ReadonlyMap<string, ListedFunction<number>> = new Map<string, ListedFunction<number>>([
  ["toFixed", digits((self, count) => self.toFixed(count), 0)],
  ["toPrecision", (frame, site, self, args) => (args[0] === undefined ? String(self) : toPrecision(frame, site, self, args))],
  [
    "toString",
    (frame, site, self, args) => {
      const radix = wholeAt(frame, site, args, 0, 10);
      if (radix < 2 || radix > 36) failEvaluation(frame, site.position, "toString needs a base from 2 to 36");
      return paid(frame, self.toString(radix));
    },
  ],
]);

const toPrecision: ListedFunction<number> = digits((self, count) => self.toPrecision(count), 1);
