import { isForbiddenKey } from "../evaluation/forbidden-key.ts";
import { type Cursor, countNode, expect, next, peek, previousEnd, refuseAt, takePunctuator, unexpected } from "./cursor.ts";
import type { Token } from "./scanner.ts";
import type { Expression } from "./syntax.ts";

const aliasHint = "write .item.json, .first().json, .last().json or .all()";

/** The expressions for the results behind `$("Node")` or `$input`. */
export interface Source {
  /** The latest data. */
  readonly last: (optional: boolean) => Expression;
  /** The oldest data. */
  readonly first: (optional: boolean) => Expression;
  /** An array of all data, each as `{ json: data }`. */
  readonly all: () => Expression;
  /** Whether there is any result. It is used for `$("Node").isExecuted` only: `$input` has no such member. */
  readonly isThere: () => Expression;
}

/**
 * Parses the notation of n8n for results, such as `$("Node").item.json` and `$input.first().json`, into the expressions that it stands
 * for: `nodes.Node.last.data` and `$json`. So only the parser knows this notation, and it reads exactly the same paths.
 */
export function parseItemsAlias(cursor: Cursor): { readonly node: Expression; readonly optional: boolean } {
  const { text, start } = next(cursor);
  const source = text === "$" ? ofNode(cursor, start) : ofInput(cursor, start);
  const opened = dot(cursor, true);
  const { text: form, start: at } = name(cursor);
  if (form === "isExecuted" && text === "$") return { node: source.isThere(), optional: false };
  if (form === "all") {
    call(cursor, form);
    return { node: source.all(), optional: opened };
  }
  if (form === "first" || form === "last") call(cursor, form);
  else if (form !== "item") refuseAt(cursor, at, aliasHint);
  const optional = dot(cursor, false);
  const last = name(cursor);
  if (last.text !== "json") refuseAt(cursor, last.start, `after ${form} write .json`);
  return { node: source[form === "first" ? "first" : "last"](optional), optional: optional || opened };
}

/** Moves past `.` or `?.`; true for `?.`. */
function dot(cursor: Cursor, first: boolean): boolean {
  if (takePunctuator(cursor, "?.")) return true;
  if (!takePunctuator(cursor, ".")) refuseAt(cursor, peek(cursor).start, first ? aliasHint : "write .json after it");
  return false;
}

function name(cursor: Cursor): Token {
  if (peek(cursor).kind !== "name") unexpected(cursor, "a name");
  return next(cursor);
}

function call(cursor: Cursor, form: string): void {
  expect(cursor, "(", `after ${form}`);
  expect(cursor, ")", `to close ${form}(`);
}

function ofInput(cursor: Cursor, start: number): Source {
  const json = (): Expression => countNode(cursor, { kind: "name", name: "$json", start, end: previousEnd(cursor) });
  const all = (): Expression => {
    const item: Expression = countNode(cursor, asItem(cursor, start, json()));
    return countNode(cursor, { kind: "array", items: [{ spread: false, value: item }], start, end: previousEnd(cursor) });
  };
  return { last: json, first: json, all, isThere: json };
}

function ofNode(cursor: Cursor, start: number): Source {
  expect(cursor, "(", "and the name of a node: $('Node')");
  const { start: at } = peek(cursor);
  const id = cursor.expression(cursor);
  expect(cursor, ")", "after the name of the node");
  return itemsOfNode(cursor, id, start, at);
}

/**
 * Returns the expressions for the results of the node that `id` gives. A literal may be the name or the id of the node; a computed
 * value must be the id, because only the parser knows the names.
 */
export function itemsOfNode(cursor: Cursor, id: Expression, start: number, at: number): Source {
  const end = previousEnd(cursor);
  const member = (object: Expression, key: string | Expression, optional = false): Expression =>
    countNode(cursor, { kind: "member", object, key, optional, at: start, start, end: previousEnd(cursor) });
  const written = id.kind === "literal" ? String(id.value) : id;
  const key = typeof written === "string" ? (cursor.names.get(written) ?? written) : written;
  if (typeof key === "string" && isForbiddenKey(key)) refuseAt(cursor, at, `"${key}" cannot be the id of a node`);
  const node = member(countNode(cursor, { kind: "name", name: "nodes", start, end }), key);
  const item: Expression = { kind: "name", name: "item", start, end };
  return {
    last: (optional) => member(member(node, "last"), "data", optional),
    first: (optional) => member(member(member(node, "all"), "0"), "data", optional),
    isThere: () => {
      const nothing: Expression = countNode(cursor, { kind: "literal", value: undefined, start, end });
      return countNode(cursor, { kind: "binary", operator: "!==", left: member(node, "last"), right: nothing, at: start, start, end });
    },
    all: () => {
      const body = countNode(cursor, asItem(cursor, start, member(item, "data")));
      const callback = { kind: "arrow", params: ["item"], body, size: 3, start, end } as const;
      const receiver = member(node, "all");
      return countNode(cursor, {
        kind: "call",
        receiver,
        name: "map",
        optional: false,
        callback,
        items: [],
        at: start,
        start,
        end: previousEnd(cursor),
      });
    },
  };
}

/** n8n wraps the data of an item: `{ json: data }`. */
function asItem(cursor: Cursor, start: number, value: Expression): Expression {
  return { kind: "object", entries: [{ key: "json", value, at: start }], start, end: previousEnd(cursor) };
}
