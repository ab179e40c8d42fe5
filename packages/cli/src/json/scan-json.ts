import { hintFor } from "./json-hint.ts";

/** Where a text stops being JSON, and why. */
export interface JsonMistake {
  readonly offset: number;
  readonly message: string;
  readonly hint: string | null;
}

/** An object or a list whose end was not read yet. */
interface Frame {
  readonly close: "}" | "]";
  readonly pointer: string;
  /** Of a list: the index of the value that is being read. */
  index: number;
}

/** The text, and the offset up to which it was read. */
interface Scan {
  readonly source: string;
  at: number;
}

const space = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly what JSON forbids in a string
const plain = /[^"\\\u0000-\u001f]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

/**
 * Walks a JSON text without building its value. The walk is not recursive, so the text may be nested to any depth.
 *
 * @param onValue called with the JSON pointer and the offset of every value
 * @returns the first mistake, or null
 */
export function scanJson(source: string, onValue: (pointer: string, offset: number) => void = () => undefined): JsonMistake | null {
  const walk: Scan = { source, at: 0 };
  const stack: Frame[] = [];
  let next: string | JsonMistake | null = "";
  while (typeof next === "string") {
    skip(walk, space);
    onValue(next, walk.at);
    next = value(walk, next, stack) ?? afterValue(walk, stack);
  }
  return next;
}

/**
 * Reads a value. Of an object or a list that is not empty, only the beginning is read.
 *
 * @returns the pointer of the first value inside; null if the value has ended; or the mistake
 */
function value(walk: Scan, pointer: string, stack: Frame[]): string | JsonMistake | null {
  const opening = walk.source[walk.at];
  if (opening === '"') return skipText(walk) ? null : badText(walk);
  if (opening !== "{" && opening !== "[") return skip(walk, scalar) ? null : mistake(walk, "a value");
  walk.at++;
  skip(walk, space);
  const frame: Frame = { close: opening === "{" ? "}" : "]", pointer, index: 0 };
  if (walk.source[walk.at] === frame.close) {
    walk.at++;
    return null;
  }
  stack.push(frame);
  return opening === "{" ? member(walk, frame) : `${pointer}/0`;
}

/** Reads what follows a value, up to the next one. @returns the pointer of the next value; null at the end of the text; or the mistake */
function afterValue(walk: Scan, stack: Frame[]): string | JsonMistake | null {
  for (;;) {
    skip(walk, space);
    const frame = stack.at(-1);
    if (!frame) return walk.at < walk.source.length ? mistake(walk, "the end of the text") : null;
    const found = walk.source[walk.at];
    if (found !== frame.close && found !== ",") return mistake(walk, `"," or "${frame.close}"`);
    walk.at++;
    if (found === ",") return frame.close === "}" ? member(walk, frame) : `${frame.pointer}/${++frame.index}`;
    stack.pop();
  }
}

/** Reads `"name":` and returns the pointer of its value, or the mistake. */
function member(walk: Scan, { pointer }: Frame): string | JsonMistake {
  skip(walk, space);
  const from = walk.at;
  if (walk.source[from] !== '"') return mistake(walk, "a name in double quotes");
  if (!skipText(walk)) return badText(walk);
  const name = JSON.parse(walk.source.slice(from, walk.at)) as string;
  skip(walk, space);
  if (walk.source[walk.at] !== ":") return mistake(walk, '":"');
  walk.at++;
  return `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * Reads a string, which may be very long: one regular expression for all of it would exceed the stack.
 *
 * @returns false if it is not JSON from this place on
 */
function skipText(walk: Scan): boolean {
  walk.at++;
  do skip(walk, plain);
  while (skip(walk, escaped));
  if (walk.source[walk.at] !== '"') return false;
  walk.at++;
  return true;
}

function badText(walk: Scan): JsonMistake {
  return mistake(walk, walk.source[walk.at] === "\\" ? "an escape that JSON knows" : "the rest of a string");
}

function mistake({ source, at }: Scan, expected: string): JsonMistake {
  const found = at >= source.length ? "the end of the text" : JSON.stringify(String.fromCodePoint(source.codePointAt(at)!));
  return { offset: at, message: `expected ${expected}, found ${found}`, hint: hintFor(source, at) };
}

function skip(walk: Scan, pattern: RegExp): boolean {
  pattern.lastIndex = walk.at;
  const matched = pattern.test(walk.source);
  if (matched) walk.at = pattern.lastIndex;
  return matched;
}
