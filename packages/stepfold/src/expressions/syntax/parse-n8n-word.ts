import { type Cursor, countNode, expect, isPunctuator, next, peek, previousEnd, refuseAt, takePunctuator, unexpected } from "./cursor.ts";
import { itemsOfNode, parseItemsAlias } from "./parse-items-alias.ts";
import type { Expression } from "./syntax.ts";

/** The expression that a word of n8n stands for, and whether a `?.` in it makes the whole expression a chain. */
interface Word {
  readonly node: Expression;
  readonly optional: boolean;
}

type ParseWord = (cursor: Cursor) => Word;

const words: ReadonlyMap<string, ParseWord> = new Map<string, ParseWord>([
  ["$", parseItemsAlias],
  ["$input", parseItemsAlias],
  ["$node", parseNode],
  ["$items", parseItems],
  ["$execution", (cursor) => ({ node: renamed(cursor, "execution"), optional: false })],
  ["$itemIndex", (cursor) => ({ node: renamed(cursor, "index"), optional: false })],
  ["$vars", (cursor) => ({ node: renamed(cursor, "vars"), optional: false })],
  ["$workflow", parseWorkflow],
  ["$today", parseToday],
]);

/**
 * Parses an expression that starts with a word of n8n, such as `$node["X"].json` or `$today`, into the
 * expression that it stands for. Returns undefined if the token under the cursor is no such word.
 */
export function parseN8nWord(cursor: Cursor): Word | undefined {
  const { kind, text } = peek(cursor);
  return kind === "name" ? words.get(text)?.(cursor) : undefined;
}

function renamed(cursor: Cursor, name: string): Expression {
  const { start, end } = next(cursor);
  return countNode(cursor, { kind: "name", name, start, end });
}

/** Parses `$node["X"].json` and `$node.X.json`. */
function parseNode(cursor: Cursor): Word {
  const { start } = next(cursor);
  const isKey = takePunctuator(cursor, "[");
  if (!isKey) expect(cursor, ".", "and the name of a node: $node['Node'].json");
  const token = peek(cursor);
  if (!isKey && token.kind !== "name") unexpected(cursor, "the name of a node");
  const at = token.start;
  const id: Expression = isKey
    ? cursor.expression(cursor)
    : countNode(cursor, { kind: "literal", value: next(cursor).text, start: at, end: token.end });
  if (isKey) expect(cursor, "]", "after the name of the node");
  const source = itemsOfNode(cursor, id, start, at);
  const optional = takePunctuator(cursor, "?.");
  if (!optional) expect(cursor, ".", "and json after the node");
  const form = peek(cursor);
  if (form.kind !== "name" || (form.text !== "json" && form.text !== "data")) refuseAt(cursor, form.start, "after the node write .json");
  cursor.index++;
  return { node: source.last(optional), optional };
}

/** Parses `$items("X")`. */
function parseItems(cursor: Cursor): Word {
  const { start } = next(cursor);
  expect(cursor, "(", "and the name of a node: $items('Node')");
  const at = peek(cursor).start;
  const id = cursor.expression(cursor);
  expect(cursor, ")", "after the name of the node");
  return { node: itemsOfNode(cursor, id, start, at).all(), optional: false };
}

/** Parses `$workflow.id` and `$workflow.name`. Both are the id of the workflow, which is all that an execution knows of its workflow. */
function parseWorkflow(cursor: Cursor): Word {
  const { start, end } = next(cursor);
  expect(cursor, ".", "and id or name after $workflow");
  const token = next(cursor);
  if (token.text !== "id" && token.text !== "name") refuseAt(cursor, token.start, "$workflow has id and name");
  const object = countNode(cursor, { kind: "name", name: "execution", start, end } as const);
  return {
    node: countNode(cursor, { kind: "member", object, key: "workflow", optional: false, at: token.start, start, end: token.end }),
    optional: false,
  };
}

/** Parses `$today`, the beginning of the day of `$now`. */
function parseToday(cursor: Cursor): Word {
  const { start, end } = next(cursor);
  const now = countNode(cursor, { kind: "name", name: "$now", start, end } as const);
  const day = countNode(cursor, { kind: "literal", value: "day", start, end } as const);
  return { node: countNode(cursor, called(now, "startOf", [day], start, end)), optional: false };
}

/** Parses `new Date(x)`. Its value is text here, as every time is. */
export function parseNewDate(cursor: Cursor, start: number): Expression {
  if (peek(cursor).text !== "Date" || !isPunctuator(cursor, "(", 1))
    refuseAt(cursor, start, '"new" is not available but for new Date(): an expression computes one value from what it reads');
  cursor.index += 2;
  const args: Expression[] = [];
  if (!isPunctuator(cursor, ")")) args.push(cursor.expression(cursor));
  expect(cursor, ")", "after the time: new Date takes one, or none");
  const end = previousEnd(cursor);
  const owner = countNode(cursor, { kind: "name", name: "DateTime", start, end } as const);
  return countNode(cursor, called(owner, args.length === 0 ? "now" : "fromJSDate", args, start, end));
}

/** The parts of a time that can be read as its members. */
export const timePartNames = [
  "year",
  "quarter",
  "month",
  "day",
  "hour",
  "minute",
  "second",
  "millisecond",
  "weekday",
  "weekNumber",
  "weekYear",
  "ordinal",
] as const;
export type TimePart = (typeof timePartNames)[number];
/** The functions and methods that return a time. */
const timeMakers: ReadonlySet<string> = new Set(
  "plus minus startOf endOf toDateTime fromISO fromMillis fromSeconds fromJSDate now utc local add subtract iso".split(" "),
);

/** Parses `$now.year`, which reads a part of a time, as a method call, because a time is text. Null if this is an ordinary member. */
export function parseTimePart(cursor: Cursor, object: Expression, key: string, start: number): Expression | null {
  const isTime = (object.kind === "name" && object.name === "$now") || (object.kind === "call" && timeMakers.has(object.name));
  if (!isTime || !(timePartNames as readonly string[]).includes(key)) return null;
  const end = previousEnd(cursor);
  const part = countNode(cursor, { kind: "literal", value: key, start, end } as const);
  return countNode(cursor, called(object, "extract", [part], start, end));
}

function called(receiver: Expression, name: string, args: readonly Expression[], start: number, end: number): Expression {
  const items = args.map((value) => ({ spread: false, value }));
  return { kind: "call", receiver, name, optional: false, callback: null, items, at: start, start, end };
}
