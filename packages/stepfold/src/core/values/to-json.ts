import { errorInfo } from "../errors/error-info.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import type { Json } from "./json.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { pointerOf } from "./pointer.ts";

/** A value in the form in which it is kept, and about how many bytes of JSON it has. */
export interface Normalised {
  readonly value: Json;
  readonly sizeBytes: number;
}

/** The state of one walk through a value. */
interface Normalisation {
  /** Name of the value, for errors. */
  readonly what: string;
  readonly limits: Limits;
  readonly origin: Origin;
  /** The object or array that is being copied; null at the root. */
  place: Place | null;
  /** Object keys and array items so far. */
  keys: number;
  /** About how many bytes of JSON the walk has copied so far. */
  sizeBytes: number;
}

/**
 * Where a value comes from: `code` of users; `storage`, which holds plain JSON, so nothing is converted; an `expression`, whose lists hold
 * null where they have no value.
 */
type Origin = "code" | "storage" | "expression";

/** An object or array on the way from the root to the current position of the walk. */
interface Place {
  readonly value: object;
  readonly around: Place | null;
  /** The nesting depth of this object or array; 1 at the root. */
  readonly depth: number;
  /** Key or index of the member that is being copied; null before the first one. */
  key: string | number | null;
}

/**
 * Returns a frozen, plain copy of a value from user code, as JSON would keep it.
 *
 * Dates become ISO strings, `toJSON` is called where there is one, members that are `undefined` are dropped, class instances are copied
 * with their own enumerable fields, -0 becomes 0. A value that is `undefined` itself becomes null.
 *
 * @param what names the value in errors: `"The output of node \"charge\""`
 * @throws StepfoldError `VALUE_NOT_JSON` for what JSON would refuse or silently destroy: NaN, infinities, BigInt, Map, Set, typed arrays,
 * errors, functions, symbols, cycles, promises, `undefined` in arrays, lone surrogates, a `__proto__` key, a getter that throws
 * @throws StepfoldError `LIMIT_EXCEEDED`
 *
 * ```ts
 * normalise({ at: new Date(0), note: undefined }, "The payload").value; // { at: "1970-01-01T00:00:00.000Z" }
 * ```
 */
export function normalise(value: unknown, what: string, limits: Limits = defaultLimits): Normalised {
  return begin(value, what, limits, "code");
}

/**
 * Returns a frozen copy of a value that must be plain JSON already, such as a stored definition, a loaded snapshot or an HTTP body.
 *
 * @throws StepfoldError `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
export function plainJson(value: unknown, what: string, limits: Limits = defaultLimits): Normalised {
  return begin(value, what, limits, "storage");
}

/**
 * Does the same as `normalise` for the value of a template. Items of lists that are undefined become null, as in JSON: in
 * `{{ input.rows.map(row => row.phone) }}` one row may lack a phone.
 *
 * @throws StepfoldError `VALUE_NOT_JSON`, `LIMIT_EXCEEDED`
 */
export function evaluatedJson(value: unknown, what: string, limits: Limits = defaultLimits): Normalised {
  return begin(value, what, limits, "expression");
}

function begin(value: unknown, what: string, limits: Limits, origin: Origin): Normalised {
  const walk: Normalisation = { what, limits, origin, place: null, keys: 0, sizeBytes: 0 };
  try {
    const copied = copy(value, walk);
    return { value: copied === undefined ? null : copied, sizeBytes: walk.sizeBytes };
  } catch (error) {
    if (StepfoldError.is(error)) throw error;
    // a getter or a toJSON of the value itself threw
    const { message: reason } = errorInfo(error);
    throw new StepfoldError(
      "VALUE_NOT_JSON",
      { what, pointer: currentPointer(walk), reason: `not readable (${reason})` },
      { cause: error },
    );
  }
}

function copy(value: unknown, walk: Normalisation): Json | undefined {
  switch (typeof value) {
    case "string":
      return text(value, walk);
    case "number":
      if (!Number.isFinite(value)) return refuse(walk, String(value));
      grow(walk, Number.isSafeInteger(value) && value >= 0 && value < 1e6 ? 6 : 17);
      // adding 0 turns -0 into 0: JSON text can hold -0, but JSON.stringify writes 0
      return value + 0;
    case "boolean":
      grow(walk, 5);
      return value;
    case "object":
      if (value === null) {
        grow(walk, 4);
        return null;
      }
      return structure(value, walk);
    case "undefined":
      return walk.origin === "storage" ? refuse(walk, "undefined") : undefined;
    default:
      return refuse(walk, typeof value === "bigint" ? "a BigInt: pass it as a string" : `a ${typeof value}`);
  }
}

function structure(value: object, walk: Normalisation): Json | undefined {
  const around = walk.place;
  const depth = around === null ? 1 : around.depth + 1;
  if (depth > walk.limits.depth) exceed(walk, "depth", walk.limits.depth, depth);
  for (let place = around; place !== null; place = place.around) if (place.value === value) return refuse(walk, "a cycle");
  const place: Place = { value, around, depth, key: null };
  walk.place = place;
  const copied = Array.isArray(value) ? items(value, walk, place) : members(value, walk, place);
  walk.place = around;
  return copied;
}

function items(value: readonly unknown[], walk: Normalisation, place: Place): Json {
  count(walk, value.length);
  const copied: Json[] = [];
  for (let i = 0; i < value.length; i++) {
    place.key = i;
    const item = copy(value[i], walk);
    if (item === undefined && walk.origin === "expression") copied.push(null);
    else if (item === undefined) return refuse(walk, i in value ? "undefined inside an array: use null" : "a hole in an array: use null");
    else copied.push(item);
  }
  return Object.freeze(copied);
}

function members(value: object, walk: Normalisation, place: Place): Json | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    if (walk.origin === "storage") return refuse(walk, `an instance of ${className(value)}`);
    const exotic = refusal(value);
    if (exotic) return refuse(walk, exotic);
  }
  const source = value as Record<string, unknown>;
  if (walk.origin !== "storage" && typeof source.toJSON === "function")
    return converted(source.toJSON as (key: string) => unknown, value, walk);
  if (typeof source.then === "function") return refuse(walk, "a promise: await it first");
  const keys = Object.keys(source);
  count(walk, keys.length);
  const copied: Record<string, Json> = {};
  for (const key of keys) {
    place.key = key;
    if (key === "__proto__") return refuse(walk, "a key that would change the prototype");
    const member = copy(source[key], walk);
    if (member !== undefined) {
      checkText(key, walk);
      grow(walk, key.length + 4);
      copied[key] = member;
    }
  }
  return Object.freeze(copied);
}

function converted(toJSON: (key: string) => unknown, value: object, walk: Normalisation): Json | undefined {
  if (tagOf(value) === "Date" && Number.isNaN(Number(value))) return refuse(walk, "an invalid Date");
  return copy(toJSON.call(value, String(walk.place?.around?.key ?? "")), walk);
}

/** Returns why JSON would lose the content of a built-in object; null if it would not. */
function refusal(value: object): string | null {
  const tag = tagOf(value);
  if (ArrayBuffer.isView(value) || tag === "ArrayBuffer" || tag === "SharedArrayBuffer")
    return `a ${tag}: pass base64 text, or store it elsewhere`;
  if (tag === "Map" || tag === "Set") return `a ${tag}: pass ${tag === "Map" ? "Object.fromEntries(map)" : "[...set]"}`;
  if (tag === "WeakMap" || tag === "WeakSet" || tag === "WeakRef" || tag === "RegExp" || tag === "Symbol" || tag === "BigInt")
    return `a ${tag}`;
  if (tag === "Promise") return "a promise: await it first";
  if (tag === "Error" || value instanceof Error) return "an Error: throw it, or pass its message";
  if (tag === "Number" || tag === "String" || tag === "Boolean") return `a ${tag} object: pass the plain value`;
  return null;
}

/** Returns the kind of a built-in object: `Date`, `Map`, ... Unlike `instanceof`, this also works for objects of other realms. */
function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function text(value: string, walk: Normalisation): string {
  checkText(value, walk);
  grow(walk, value.length + 2);
  return value;
}

function checkText(value: string, walk: Normalisation): void {
  if (value.length > walk.limits.stringLength) exceed(walk, "stringLength", walk.limits.stringLength, value.length);
  // `isWellFormed` is from ES2024, and all supported platforms have it. A lone surrogate is not valid Unicode: databases refuse it or store
  // another character
  if (!(value as unknown as { isWellFormed(): boolean }).isWellFormed()) refuse(walk, "text with half a character (a lone surrogate)");
}

function count(walk: Normalisation, keys: number): void {
  walk.keys += keys;
  if (walk.keys > walk.limits.keys) exceed(walk, "keys", walk.limits.keys, walk.keys);
  grow(walk, 2);
}

function grow(walk: Normalisation, bytes: number): void {
  walk.sizeBytes += bytes;
  if (walk.sizeBytes > walk.limits.valueBytes) exceed(walk, "valueBytes", walk.limits.valueBytes, walk.sizeBytes);
}

function refuse(walk: Normalisation, reason: string): never {
  throw new StepfoldError("VALUE_NOT_JSON", { what: walk.what, pointer: currentPointer(walk), reason });
}

function exceed(walk: Normalisation, limit: keyof Limits, max: number, actual: number): never {
  throw new StepfoldError("LIMIT_EXCEEDED", { what: walk.what, limit, max, actual, pointer: currentPointer(walk) });
}

function currentPointer({ place }: Normalisation): string {
  const keys: (string | number)[] = [];
  for (let one = place; one !== null; one = one.around) if (one.key !== null) keys.unshift(one.key);
  return pointerOf(keys);
}

function className(value: object): string {
  const made: unknown = (value as { constructor?: unknown }).constructor;
  return typeof made === "function" && made.name ? made.name : "a class";
}
