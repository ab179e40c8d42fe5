import { concatenate, toNumber, toText } from "../evaluation/coerce.ts";
import { charge, type Frame, failEvaluation } from "../evaluation/frame.ts";
import { isPlain, kindOf } from "../evaluation/read-member.ts";
import type { BinaryOperator } from "../syntax/syntax.ts";

/** The function of a binary operator. `position` is the position of the operator in the source. */
export type Operate = (frame: Frame, position: number, left: unknown, right: unknown) => unknown;

const longTextLength = 1024;

/** Strict equality, as `===`. Two long texts of the same length are compared letter by letter, so a long text costs steps. */
function isSame(frame: Frame, left: unknown, right: unknown): boolean {
  if (typeof left === "string" && left.length > longTextLength && typeof right === "string") charge(frame, left.length >>> 10);
  return left === right;
}

/** `==` is `===`, except that null and undefined are equal: `"1" == 1` is false. */
function isLike(frame: Frame, left: unknown, right: unknown): boolean {
  if (left === null || left === undefined) return right === null || right === undefined;
  return isSame(frame, left, right);
}

function add(frame: Frame, position: number, left: unknown, right: unknown): unknown {
  if (typeof left !== "string" && typeof right !== "string") {
    return toNumber(frame, position, left) + toNumber(frame, position, right);
  }
  return concatenate(frame, toText(frame, position, left), toText(frame, position, right));
}

/** Makes an operator that compares two texts by code units, and any other values as numbers. */
function order(compare: (left: string | number, right: string | number) => boolean): Operate {
  return (frame, position, left, right) => {
    if (typeof left !== "string" || typeof right !== "string") {
      return compare(toNumber(frame, position, left), toNumber(frame, position, right));
    }
    charge(frame, Math.max(left.length, right.length) >>> 10);
    return compare(left, right);
  };
}

/** The operator `in`: true if the object or array on the right has the key on the left. */
const has: Operate = (frame, position, key, value) => {
  if (typeof key !== "string" && typeof key !== "number")
    failEvaluation(frame, position, `a key must be a text or a number, not ${kindOf(key)}`);
  if (!isPlain(value) && !Array.isArray(value)) failEvaluation(frame, position, `"in" needs an object or array, not ${kindOf(value)}`);
  charge(frame, String(key).length >>> 12);
  return Object.hasOwn(value, key);
};

function compute(calculate: (left: number, right: number) => number): Operate {
  return (frame, position, left, right) => calculate(toNumber(frame, position, left), toNumber(frame, position, right));
}

/** Every binary operator, for operands of any type. */
export const operators: Readonly<Record<BinaryOperator, Operate>> = {
  "+": add,
  "-": compute((left, right) => left - right),
  "*": compute((left, right) => left * right),
  "/": compute((left, right) => left / right),
  "%": compute((left, right) => left % right),
  "**": compute((left, right) => left ** right),
  "==": (frame, _, left, right) => isLike(frame, left, right),
  "!=": (frame, _, left, right) => !isLike(frame, left, right),
  "===": (frame, _, left, right) => isSame(frame, left, right),
  "!==": (frame, _, left, right) => !isSame(frame, left, right),
  "<": order((left, right) => left < right),
  "<=": order((left, right) => left <= right),
  ">": order((left, right) => left > right),
  ">=": order((left, right) => left >= right),
  in: has,
};
