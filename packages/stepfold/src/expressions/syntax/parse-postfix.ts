import { isForbiddenKey } from "../evaluation/forbidden-key.ts";
import { type Cursor, countNode, expect, isPunctuator, next, peek, previousEnd, refuseAt, takePunctuator, unexpected } from "./cursor.ts";
import { parseArguments } from "./parse-argument.ts";
import { parseN8nWord, parseTimePart } from "./parse-n8n-word.ts";
import { parsePrimary } from "./parse-primary.ts";
import type { Expression } from "./syntax.ts";

/** Parses a value with its members and calls: `items[0].name?.trim()`. */
export function parsePostfix(cursor: Cursor): Expression {
  const { start } = peek(cursor);
  const alias = parseN8nWord(cursor);
  let node = alias?.node ?? parsePrimary(cursor);
  let chained = alias?.optional ?? false;
  for (;;) {
    const optional = takePunctuator(cursor, "?.");
    chained ||= optional;
    if (optional && isPunctuator(cursor, "("))
      refuseAt(cursor, peek(cursor).start, "?.( is not available: what can be called is always there");
    if (takePunctuator(cursor, "[")) node = computed(cursor, node, optional, start);
    else if (optional || takePunctuator(cursor, ".")) node = named(cursor, node, optional, start);
    else if (isPunctuator(cursor, "(")) node = called(cursor, node, start);
    else if (takePunctuator(cursor, "!")) node = countNode(cursor, { kind: "required", operand: node, start, end: previousEnd(cursor) });
    else break;
  }
  if (isPunctuator(cursor, "`")) refuseAt(cursor, peek(cursor).start, "a template string cannot follow a value; is there a + missing?");
  return chained ? countNode(cursor, { kind: "chain", expression: node, start, end: previousEnd(cursor) }) : node;
}

function named(cursor: Cursor, object: Expression, optional: boolean, start: number): Expression {
  const token = peek(cursor);
  if (token.kind !== "name") unexpected(cursor, "the name of a member");
  cursor.index++;
  const part = isPunctuator(cursor, "(") ? null : parseTimePart(cursor, object, token.text, start);
  return part ?? member(cursor, object, token.text, optional, start, token.start);
}

function computed(cursor: Cursor, object: Expression, optional: boolean, start: number): Expression {
  const at = peek(cursor).start;
  const key = cursor.expression(cursor);
  expect(cursor, "]", "after the key");
  // A literal key is treated like a name: it can be checked at once, and the read-set stays exact.
  const known = key.kind === "literal" && (typeof key.value === "string" || typeof key.value === "number");
  return member(cursor, object, known ? String(key.value) : key, optional, start, at);
}

function member(cursor: Cursor, object: Expression, key: string | Expression, optional: boolean, start: number, at: number): Expression {
  if (typeof key === "string" && isForbiddenKey(key)) refuseAt(cursor, at, `"${key}" cannot be read: expressions see plain data only`);
  return countNode(cursor, { kind: "member", object, key, optional, at, start, end: previousEnd(cursor) });
}

function called(cursor: Cursor, callee: Expression, start: number): Expression {
  const { start: bracket } = next(cursor);
  if (callee.kind === "name") {
    const { name, start: at } = callee;
    const parsed = parseArguments(cursor, name, false);
    return countNode(cursor, { kind: "call", receiver: null, name, optional: false, ...parsed, at, start, end: previousEnd(cursor) });
  }
  if (callee.kind !== "member" || cursor.grouped.has(callee) || typeof callee.key !== "string") {
    refuseAt(cursor, bracket, "this cannot be called: write the name of a listed function or method before the bracket");
  }
  const { object: receiver, key: name, optional, at } = callee;
  const parsed = parseArguments(cursor, name, true);
  return countNode(cursor, { kind: "call", receiver, name, optional, ...parsed, at, start, end: previousEnd(cursor) });
}
