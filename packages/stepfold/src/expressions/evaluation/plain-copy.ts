import { charge, type Frame, failEvaluation, grow } from "./frame.ts";
import { isPlain, kindOf } from "./read-member.ts";

/** How many levels deep a value is copied. The limit also ends the copying of a value that holds itself. */
const maxCopyDepth = 64;

/**
 * Copies plain data and pays for the copy. A value that is not plain data fails the evaluation.
 *
 * Values that may be something else than JSON (`globals`, a scope written by hand, parsed text) leave an expression only as such a copy:
 * a getter or a proxy could otherwise give one value now and another value later.
 *
 * @param indent for indented JSON: how many characters each level of nesting puts before a member
 */
export function plainCopy(frame: Frame, position: number, value: unknown, indent = 0, depth = 0): unknown {
  if (typeof value === "string") {
    grow(frame, value.length + 2);
    return value;
  }
  if (typeof value === "number" || typeof value === "boolean" || value === null || value === undefined) return value;
  if (depth >= maxCopyDepth) failEvaluation(frame, position, `this value is nested deeper than ${maxCopyDepth} levels, or holds itself`);
  if (Array.isArray(value)) {
    pay(frame, value.length, 8 + indent * (depth + 1));
    const items: unknown[] = [];
    for (let index = 0; index < value.length; index++) items.push(plainCopy(frame, position, value[index], indent, depth + 1));
    return items;
  }
  if (!isPlain(value)) failEvaluation(frame, position, `this value is or contains ${kindOf(value)}: expressions give plain data only`);
  const keys = Object.keys(value);
  pay(frame, keys.length, 16 + indent * (depth + 1));
  const copy: Record<string, unknown> = {};
  for (const key of keys) {
    grow(frame, key.length);
    setMember(frame, position, copy, key, plainCopy(frame, position, value[key], indent, depth + 1));
  }
  return copy;
}

/** Sets a member of an object that an expression builds. The key `__proto__`, which would set the prototype, fails the evaluation. */
export function setMember(frame: Frame, position: number, target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") failEvaluation(frame, position, '"__proto__" is not allowed as a key');
  target[key] = value;
}

/** Pays for copying members. Copying is cheap compared with running an arrow function, so one step pays for 16 members. */
function pay(frame: Frame, members: number, characters: number): void {
  charge(frame, 1 + (members >>> 4));
  grow(frame, members * characters);
}
