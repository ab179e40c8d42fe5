import { isForbiddenKey } from "./forbidden-key.ts";
import { charge, type Frame, failEvaluation } from "./frame.ts";

const plainPrototype = Object.prototype;

/** True for plain objects such as `{ a: 1 }`, false for arrays, class instances and functions. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === plainPrototype || prototype === null;
}

/** Returns the name of a kind of value, for messages. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return isPlain(value) ? "an object" : "a class instance";
  return typeof value === "string" ? "a text" : `a ${typeof value}`;
}

/**
 * Reads an own member of an object, an array or a text. Every member of a number or boolean is undefined, and other values, such as
 * class instances, fail the evaluation. Inherited members are never read. `value` must not be null or undefined.
 */
export function readMember(frame: Frame, value: unknown, key: string, position: number): unknown {
  let found: unknown;
  if (typeof value === "object") {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== plainPrototype && prototype !== null && !Array.isArray(value)) refuse(frame, value, key, position);
    found = Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined;
  } else if (typeof value === "string") return readText(frame, value, key);
  else if (typeof value !== "number" && typeof value !== "boolean") refuse(frame, value, key, position);
  if (typeof found === "function") failEvaluation(frame, position, `"${key}" is a function: expressions see plain data only`);
  return found;
}

/** Reads a member whose key was computed. */
export function readComputed(frame: Frame, value: unknown, key: unknown, position: number): unknown {
  if (typeof key === "number" && Array.isArray(value)) return readMember(frame, value, String(key), position);
  if (typeof key !== "string" && typeof key !== "number")
    failEvaluation(frame, position, `a key must be a text or a number, not ${kindOf(key)}`);
  const text = String(key);
  charge(frame, text.length >>> 12);
  // The message does not depend on the value, so an expression learns nothing by trying.
  if (isForbiddenKey(text)) failEvaluation(frame, position, `"${text}" cannot be read: expressions see plain data only`);
  return readMember(frame, value, text, position);
}

function readText(frame: Frame, text: string, key: string): unknown {
  if (key === "length") return text.length;
  charge(frame, text.length >>> 12);
  return Object.hasOwn(Object(text) as object, key) ? text[Number(key)] : undefined;
}

function refuse(frame: Frame, value: unknown, key: string, position: number): never {
  failEvaluation(frame, position, `cannot read "${key}" of ${kindOf(value)}: expressions see plain data only`);
}
