import { type Cursor, countNode, expect, isPunctuator, next, peek, previousEnd, refuseAt, takePunctuator, unexpected } from "./cursor.ts";
import { maxParamTokens, paramPunctuators, parseParams } from "./parse-params.ts";
import type { Arrow, Expression, ListItem } from "./syntax.ts";

/** Array helpers that take an arrow function, and whether they need one. */
const callbackMethods: ReadonlyMap<string, "required" | "optional"> = new Map([
  ["map", "required"],
  ["filter", "required"],
  ["find", "required"],
  ["findIndex", "required"],
  ["findLast", "required"],
  ["findLastIndex", "required"],
  ["some", "required"],
  ["every", "required"],
  ["reduce", "required"],
  ["flatMap", "required"],
  ["sort", "optional"],
  ["toSorted", "optional"],
]);

/** Functions that may be given in place of an arrow function: `items.filter(Boolean)`. */
const namedFunctions: ReadonlySet<string> = new Set(["Boolean", "Number", "String"]);

/** Parses the arguments after a name; the cursor stands after the `(`. */
export function parseArguments(cursor: Cursor, name: string, method: boolean): { callback: Arrow | null; items: readonly ListItem[] } {
  const takes = method ? callbackMethods.get(name) : undefined;
  const { start } = peek(cursor);
  const callback = takes === undefined ? null : parseCallback(cursor);
  if (takes === "required" && callback === null) refuseAt(cursor, start, `${name} needs an arrow function: ${name}(x => x.price)`);
  if (callback !== null && !takePunctuator(cursor, ",") && !isPunctuator(cursor, ")"))
    unexpected(cursor, `"," or ")" after the arrow function`);
  return { callback, items: parseItems(cursor, ")") };
}

/** Parses `a, ...b` up to and including the closing punctuator. */
export function parseItems(cursor: Cursor, close: ")" | "]"): readonly ListItem[] {
  const items: ListItem[] = [];
  while (!takePunctuator(cursor, close)) {
    if (arrowAhead(cursor)) {
      refuseAt(cursor, peek(cursor).start, `an arrow function may only be the first argument of ${[...callbackMethods.keys()].join(", ")}`);
    }
    const spread = takePunctuator(cursor, "...");
    items.push({ spread, value: cursor.expression(cursor) });
    if (!takePunctuator(cursor, ",") && !isPunctuator(cursor, close)) unexpected(cursor, `"," or "${close}"`);
  }
  return items;
}

/** True if an arrow function starts here. It looks at no more tokens than the parameters of an arrow function may have. */
function arrowAhead(cursor: Cursor): boolean {
  if (peek(cursor).kind === "name") return isPunctuator(cursor, "=>", 1);
  if (!isPunctuator(cursor, "(")) return false;
  let depth = 0;
  for (let ahead = 0; ahead < maxParamTokens; ahead++) {
    const token = cursor.tokens[cursor.index + ahead];
    if (token === undefined || (token.kind !== "name" && !(token.kind === "punctuator" && paramPunctuators.has(token.text)))) return false;
    if (token.text === "(") depth++;
    if (token.text === ")" && --depth === 0) return isPunctuator(cursor, "=>", ahead + 1);
  }
  return false;
}

function parseCallback(cursor: Cursor): Arrow | null {
  const token = peek(cursor);
  if (token.kind === "name" && namedFunctions.has(token.text) && (isPunctuator(cursor, ")", 1) || isPunctuator(cursor, ",", 1)))
    return standIn(cursor);
  if (!arrowAhead(cursor)) return null;
  const { destructured } = cursor;
  const params = parseParams(cursor);
  expect(cursor, "=>", "after the parameters");
  if (isPunctuator(cursor, "{")) {
    refuseAt(cursor, peek(cursor).start, "an arrow function holds one expression; for an object write x => ({ id: x.id })");
  }
  const before = cursor.nodes;
  const body = cursor.expression(cursor);
  cursor.destructured = destructured;
  return { kind: "arrow", params, body, size: cursor.nodes - before, start: token.start, end: previousEnd(cursor) };
}

/** Parses `Boolean` as `value => Boolean(value)`. */
function standIn(cursor: Cursor): Arrow {
  const { text: name, start, end } = next(cursor);
  const value: Expression = countNode(cursor, { kind: "name", name: "value", start, end });
  const items = [{ spread: false, value }];
  const body: Expression = countNode(cursor, {
    kind: "call",
    receiver: null,
    name,
    optional: false,
    callback: null,
    items,
    at: start,
    start,
    end,
  });
  return { kind: "arrow", params: ["value"], body, size: 2, start, end };
}
