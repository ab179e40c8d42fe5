import { hintFor } from "./json-hint.ts";

/** Where a text stops being JSON, and why. */
export interface JsonMistake {
  readonly offset: number;
  readonly message: string;
  readonly hint: string | null;
}

interface Frame {
  readonly close: "}" | "]";
  readonly pointer: string;
  index: number;
}

const space = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly what JSON forbids in a string
const text = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly what JSON forbids in a string
const textStart = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

/**
 * Walks a JSON text without building its value. Not recursive: depth costs nothing.
 *
 * @param onValue told of every value by its JSON pointer
 * @returns the first mistake, or null
 */
export function scanJson(source: string, onValue: (pointer: string, offset: number) => void = () => undefined): JsonMistake | null {
  let at = 0;
  const stack: Frame[] = [];
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const matched = pattern.test(source);
    if (matched) at = pattern.lastIndex;
    return matched;
  };
  const mistake = (expected: string): JsonMistake => {
    const found = at >= source.length ? "the end of the text" : JSON.stringify(String.fromCodePoint(source.codePointAt(at)!));
    return { offset: at, message: `expected ${expected}, found ${found}`, hint: hintFor(source, at) };
  };
  /** Reads `"name":` and gives the pointer of its value. */
  const member = (frame: Frame): string | JsonMistake => {
    skip(space);
    const from = at;
    if (!skip(text)) return source[at] === '"' ? badText() : mistake("a name in double quotes");
    const name = JSON.parse(source.slice(from, at)) as string;
    skip(space);
    if (source[at] !== ":") return mistake('":"');
    at++;
    return `${frame.pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  };
  const badText = (): JsonMistake => {
    skip(textStart);
    return mistake(source[at] === "\\" ? "an escape that JSON knows" : "the rest of a string");
  };

  let pointer: string | JsonMistake = "";
  for (;;) {
    if (typeof pointer !== "string") return pointer;
    skip(space);
    onValue(pointer, at);
    const opening = source[at];
    if (opening === "{" || opening === "[") {
      at++;
      skip(space);
      const frame: Frame = { close: opening === "{" ? "}" : "]", pointer, index: 0 };
      if (source[at] !== frame.close) {
        stack.push(frame);
        pointer = opening === "{" ? member(frame) : `${pointer}/0`;
        continue;
      }
      at++;
    } else if (opening === '"' ? !skip(text) : !skip(scalar)) {
      return opening === '"' ? badText() : mistake("a value");
    }
    // a value has ended: its parents may end too
    for (;;) {
      skip(space);
      const frame = stack.at(-1);
      if (!frame) return at < source.length ? mistake("the end of the text") : null;
      if (source[at] === frame.close) {
        at++;
        stack.pop();
        continue;
      }
      if (source[at] !== ",") return mistake(`"," or "${frame.close}"`);
      at++;
      pointer = frame.close === "}" ? member(frame) : `${frame.pointer}/${++frame.index}`;
      break;
    }
  }
}
