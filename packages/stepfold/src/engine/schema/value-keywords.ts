import { canonicalJson } from "../../core/values/canonical-json.ts";
import type { Json } from "../../core/values/json.ts";
import { unicodeClassesIn } from "../../expressions/pattern/pattern-syntax.ts";
import { type Check, type CheckRun, shown } from "./check-run.ts";
import { formats } from "./formats.ts";
import { isCount, type Keyword } from "./keyword.ts";

/** The work of making the set of a class of Unicode, in a text that is to be a regular expression. */
const classPrice = 10_000;

const types = ["null", "boolean", "object", "array", "number", "string", "integer"];

/** Keywords about a value as a whole, a number or a text. */
export const valueKeywords: Readonly<Record<string, Keyword>> = {
  type: typeKeyword,
  const: (value) => oneOf([value], `must be ${shown(value)}`),
  enum: (values, context) => {
    if (Array.isArray(values)) return oneOf(values, `must be one of ${shown(values as Json).slice(1, -1)}`);
    context.mistake("enum", "must be a list of values");
    return null;
  },
  minimum: ofNumber("minimum", (value, bound) => value >= bound, "must be at least"),
  maximum: ofNumber("maximum", (value, bound) => value <= bound, "must be at most"),
  exclusiveMinimum: ofNumber("exclusiveMinimum", (value, bound) => value > bound, "must be more than"),
  exclusiveMaximum: ofNumber("exclusiveMaximum", (value, bound) => value < bound, "must be less than"),
  multipleOf: ofNumber("multipleOf", isMultiple, "must be a multiple of"),
  minLength: ofLength("minLength", (length, bound) => length >= bound, "must have at least"),
  maxLength: ofLength("maxLength", (length, bound) => length <= bound, "must have at most"),
  pattern: (source, context) => {
    const pattern = context.pattern("pattern", source);
    if (!pattern) return null;
    const message = `does not match the pattern ${shown(source)}`;
    return (value, run, place) => typeof value !== "string" || pattern.matches(value, run.spend) || run.report(place, message);
  },
  format: (name) => {
    const fits = typeof name === "string" ? formats.get(name) : undefined;
    if (!fits) return null;
    return (value, run, place) => {
      if (typeof value !== "string") return true;
      run.spend(5 + (value.length >> 1) + (name === "regex" ? classPrice * unicodeClassesIn(value) : 0));
      return fits(value) || run.report(place, `is not a valid ${name as string}`);
    };
  },
};

/** The type of a value, in the words of JSON Schema. */
function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function typeKeyword(value: Json, context: Parameters<Keyword>[1]): Check | null {
  const wanted = (Array.isArray(value) ? value : [value]) as readonly string[];
  if (!wanted.every((type) => types.includes(type))) {
    context.mistake("type", `must be one of ${types.join(", ")}, or a list of them`);
    return null;
  }
  const [hasInteger, message] = [wanted.includes("integer"), `must be ${wanted.join(" or ")}`];
  return (given, run, place) => {
    const type = typeOf(given);
    if (wanted.includes(type) || (hasInteger && Number.isInteger(given))) return true;
    return run.report(place, `${message}, not ${type}`);
  };
}

/**
 * Makes a check that a value is one of these values. Lists and objects are compared by their text, so that one look-up is enough, however
 * many values there are.
 */
function oneOf(values: readonly Json[], message: string): Check {
  const plain = new Set(values.filter((value) => !isStructure(value)));
  const structures = new Set(values.filter(isStructure).map(canonicalJson));
  return (value, run, place) => {
    if (typeof value === "string") run.spend(value.length >> 5);
    if (isStructure(value) ? structures.size > 0 && structures.has(textOf(value, run)) : plain.has(value)) return true;
    return run.report(place, message);
  };
}

export function isStructure(value: Json): boolean {
  return typeof value === "object" && value !== null;
}

/** Returns the canonical text of a value, and spends the work that this takes. */
export function textOf(value: Json, run: CheckRun): string {
  const text = canonicalJson(value);
  run.spend(20 + (text.length >> 1));
  return text;
}

function ofNumber(keyword: string, holds: (value: number, bound: number) => boolean, message: string): Keyword {
  return (bound, context) => {
    if (typeof bound !== "number" || (keyword === "multipleOf" && bound <= 0)) {
      context.mistake(keyword, keyword === "multipleOf" ? "must be a number above 0" : "must be a number");
      return null;
    }
    // `multipleOf` is calculated with whole numbers of many digits
    const price = keyword === "multipleOf" ? 30 : 1;
    return (value, run, place) => {
      if (typeof value !== "number") return true;
      run.spend(price);
      return holds(value, bound) || run.report(place, `${message} ${bound}`);
    };
  };
}

function ofLength(keyword: string, holds: (length: number, bound: number) => boolean, message: string): Keyword {
  return (bound, context) => {
    if (!isCount(bound)) {
      context.mistake(keyword, "must be a whole number of at least 0");
      return null;
    }
    return (value, run, place) => {
      if (typeof value !== "string") return true;
      run.spend(value.length >> 1);
      return holds(lengthOf(value), bound) || run.report(place, `${message} ${bound} characters`);
    };
  };
}

/** The number of characters, not of UTF-16 code units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Whether a number is a multiple of another one. The calculation is exact for decimals: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, divisor: number): boolean {
  const [coefficient, exponent] = decimalOf(value);
  const [ofDivisor, exponentOfDivisor] = decimalOf(divisor);
  const shift = BigInt(Math.abs(exponent - exponentOfDivisor));
  return exponent >= exponentOfDivisor ? (coefficient * 10n ** shift) % ofDivisor === 0n : coefficient % (ofDivisor * 10n ** shift) === 0n;
}

/** Splits the absolute value of a number into a whole number and an exponent of ten. */
function decimalOf(value: number): readonly [bigint, number] {
  const [digits = "0", exponent = "0"] = String(Math.abs(value)).split("e");
  const [whole = "0", fraction = ""] = digits.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
