import { behind, type Cursor, countNode, expect, isSign, next, peek, refuseAt, take, unexpected } from "./cursor.ts";
import type { Arrow, Expression, ListItem } from "./syntax.ts";

/** Array helpers that take an arrow function, and whether they can do without. */
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

/** Functions that may stand for an arrow function: `items.filter(Boolean)`. */
const namedFunctions: ReadonlySet<string> = new Set(["Boolean", "Number", "String"]);
const maxParams = 3;

/** Parses `(...)` after a name; the cursor stands after the `(`. */
export function parseArguments(cursor: Cursor, name: string, method: boolean): { callback: Arrow | null; items: readonly ListItem[] } {
  const takes = method ? callbackMethods.get(name) : undefined;
  const start = peek(cursor).start;
  const callback = takes === undefined ? null : parseCallback(cursor);
  if (takes !== undefined && callback === null && takesApart(cursor)) {
    refuseAt(cursor, start, `the parameters of an arrow function are plain names: write ${name}(pair => pair[0]), not ${name}(([a]) => a)`);
  }
  if (takes === "required" && callback === null) refuseAt(cursor, start, `${name} needs an arrow function: ${name}(x => x.price)`);
  if (callback !== null && !take(cursor, ",") && !isSign(cursor, ")")) unexpected(cursor, `"," or ")" after the arrow function`);
  return { callback, items: parseItems(cursor, ")") };
}

/** Parses `a, ...b` up to and with the closing sign. */
export function parseItems(cursor: Cursor, close: ")" | "]"): readonly ListItem[] {
  const items: ListItem[] = [];
  while (!take(cursor, close)) {
    if (arrowAhead(cursor)) {
      refuseAt(cursor, peek(cursor).start, `an arrow function may only be the first argument of ${[...callbackMethods.keys()].join(", ")}`);
    }
    const spread = take(cursor, "...");
    items.push({ spread, value: cursor.expression(cursor) });
    if (!take(cursor, ",") && !isSign(cursor, close)) unexpected(cursor, `"," or "${close}"`);
  }
  return items;
}

/** Whether an arrow function starts here. Looks at no more tokens than one could have before its `=>`. */
function arrowAhead(cursor: Cursor): boolean {
  if (peek(cursor).kind === "name") return isSign(cursor, "=>", 1);
  if (!isSign(cursor, "(")) return false;
  let ahead = 1;
  while (ahead < 2 * maxParams + 4 && (cursor.tokens[cursor.index + ahead]?.kind === "name" || isSign(cursor, ",", ahead))) ahead++;
  return isSign(cursor, ")", ahead) && isSign(cursor, "=>", ahead + 1);
}

/** Whether the parameters of an arrow function start here that take a value apart: `([key, value]) =>`. */
function takesApart(cursor: Cursor): boolean {
  if (!isSign(cursor, "(")) return false;
  let depth = 0;
  let ahead = 0;
  let isApart = false;
  for (; cursor.tokens[cursor.index + ahead] !== undefined; ahead++) {
    isApart ||= isSign(cursor, "[", ahead) || isSign(cursor, "{", ahead);
    if (isSign(cursor, "(", ahead)) depth++;
    if (isSign(cursor, ")", ahead) && --depth === 0) break;
  }
  return isApart && isSign(cursor, "=>", ahead + 1);
}

function parseCallback(cursor: Cursor): Arrow | null {
  const token = peek(cursor);
  if (token.kind === "name" && namedFunctions.has(token.text) && (isSign(cursor, ")", 1) || isSign(cursor, ",", 1))) return standIn(cursor);
  if (!arrowAhead(cursor)) return null;
  const params = parseParams(cursor);
  expect(cursor, "=>", "after the parameters");
  if (isSign(cursor, "{")) {
    refuseAt(cursor, peek(cursor).start, "an arrow function holds one expression; for an object write x => ({ id: x.id })");
  }
  const before = cursor.nodes;
  const body = cursor.expression(cursor);
  return { kind: "arrow", params, body, size: cursor.nodes - before, start: token.start, end: behind(cursor) };
}

function parseParams(cursor: Cursor): readonly string[] {
  if (peek(cursor).kind === "name") return [next(cursor).text];
  const { start } = next(cursor);
  const params: string[] = [];
  while (!take(cursor, ")")) {
    const token = peek(cursor);
    if (token.kind !== "name") unexpected(cursor, "the name of a parameter");
    if (params.includes(token.text)) refuseAt(cursor, token.start, `two parameters are called "${token.text}"`);
    params.push(next(cursor).text);
    if (!take(cursor, ",") && !isSign(cursor, ")")) unexpected(cursor, `"," or ")"`);
  }
  if (params.length > maxParams) refuseAt(cursor, start, `an arrow function has at most ${maxParams} parameters`);
  return params;
}

/** `Boolean` stands for `value => Boolean(value)`. */
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
