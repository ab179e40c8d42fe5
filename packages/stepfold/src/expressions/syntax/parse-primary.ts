import { type Cursor, countNode, expect, isPunctuator, next, peek, previousEnd, refuseAt, takePunctuator, unexpected } from "./cursor.ts";
import { parseItems } from "./parse-argument.ts";
import { parseNewDate } from "./parse-n8n-word.ts";
import type { Entry, Expression, Literal } from "./syntax.ts";

const literalWords: ReadonlyMap<string, Literal["value"]> = new Map<string, Literal["value"]>([
  ["true", true],
  ["false", false],
  ["null", null],
  ["undefined", undefined],
]);

const reservedWords: ReadonlySet<string> = new Set(
  "await async break case catch class const continue debugger default delete do else enum export extends finally for function if import in instanceof let new return super switch this throw try var void while with yield eval arguments".split(
    " ",
  ),
);

/** Parses a literal, a name, or something in brackets. */
export function parsePrimary(cursor: Cursor): Expression {
  const token = peek(cursor);
  const { start, end } = token;
  if (token.kind === "name") return parseName(cursor);
  if (token.kind === "number") return countNode(cursor, { kind: "literal", value: Number(next(cursor).text), start, end });
  if (token.kind === "string") return countNode(cursor, { kind: "literal", value: next(cursor).text, start, end });
  if (takePunctuator(cursor, "(")) return parseGroup(cursor, start);
  if (takePunctuator(cursor, "[")) {
    const items = parseItems(cursor, "]");
    return countNode(cursor, { kind: "array", items, start, end: previousEnd(cursor) });
  }
  if (takePunctuator(cursor, "{")) return parseObject(cursor, start);
  if (takePunctuator(cursor, "`")) return parseText(cursor, start);
  if (token.kind === "pattern") return parsePattern(cursor);
  return unexpected(cursor, "a value");
}

function parsePattern(cursor: Cursor): Expression {
  const { text, start, end } = next(cursor);
  const close = text.lastIndexOf("/");
  return countNode(cursor, { kind: "pattern", source: text.slice(1, close), flags: text.slice(close + 1), start, end });
}

function parseName(cursor: Cursor): Expression {
  const token = next(cursor);
  const { text: name, start, end } = token;
  if (literalWords.has(name)) return countNode(cursor, { kind: "literal", value: literalWords.get(name), start, end });
  if (name === "new") return parseNewDate(cursor, start);
  if (reservedWords.has(name)) refuseAt(cursor, start, `"${name}" is not available: an expression computes one value from what it reads`);
  if (isPunctuator(cursor, "=>")) {
    refuseAt(cursor, start, "an arrow function may only be the first argument of an array helper: items.map(x => x.price)");
  }
  return cursor.destructured.get(name)?.(cursor, token) ?? countNode(cursor, { kind: "name", name, start, end });
}

function parseGroup(cursor: Cursor, start: number): Expression {
  if (isPunctuator(cursor, ")")) refuseAt(cursor, start, "there is nothing between these brackets");
  const inner = cursor.expression(cursor);
  expect(cursor, ")", "to close the bracket");
  cursor.grouped.add(inner);
  return inner;
}

function parseText(cursor: Cursor, start: number): Expression {
  const texts = [next(cursor).text];
  const values: Expression[] = [];
  while (!takePunctuator(cursor, "`")) {
    expect(cursor, "${", "or the end of the template string");
    values.push(cursor.expression(cursor));
    expect(cursor, "}", "after the expression");
    texts.push(next(cursor).text);
  }
  return countNode(cursor, { kind: "text", texts, values, start, end: previousEnd(cursor) });
}

function parseObject(cursor: Cursor, start: number): Expression {
  const entries: Entry[] = [];
  while (!takePunctuator(cursor, "}")) {
    entries.push(parseEntry(cursor));
    if (!takePunctuator(cursor, ",") && !isPunctuator(cursor, "}")) unexpected(cursor, '"," or "}"');
  }
  return countNode(cursor, { kind: "object", entries, start, end: previousEnd(cursor) });
}

function parseEntry(cursor: Cursor): Entry {
  const { kind, start: at } = peek(cursor);
  if (takePunctuator(cursor, "...")) return { key: null, value: cursor.expression(cursor), at };
  if (kind === "name" && (isPunctuator(cursor, ",", 1) || isPunctuator(cursor, "}", 1))) {
    return { key: staticKey(cursor, peek(cursor).text), value: parseName(cursor), at };
  }
  const key = parseKey(cursor);
  expect(cursor, ":", "after the key");
  return { key, value: cursor.expression(cursor), at };
}

function parseKey(cursor: Cursor): string | Expression {
  const token = peek(cursor);
  if (takePunctuator(cursor, "[")) {
    const key = cursor.expression(cursor);
    expect(cursor, "]", "after the key");
    return key;
  }
  if (token.kind !== "name" && token.kind !== "string" && token.kind !== "number") unexpected(cursor, "a key");
  const text = staticKey(cursor, token.text);
  cursor.index++;
  return token.kind === "number" ? String(Number(text)) : text;
}

/** Refuses the key `__proto__`, because `{ __proto__: x }` sets the prototype of the object in JavaScript. */
function staticKey(cursor: Cursor, key: string): string {
  if (key === "__proto__") refuseAt(cursor, peek(cursor).start, '"__proto__" is not allowed as a key');
  return key;
}
