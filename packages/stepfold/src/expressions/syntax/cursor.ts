import type { NodeNames } from "../../core/definition/template.ts";
import type { ExpressionLimits } from "../evaluation/expression-limits.ts";
import { refuseExpression } from "../evaluation/frame.ts";
import type { Token } from "./scanner.ts";
import type { Expression } from "./syntax.ts";

/** Where a parser stands. */
export interface Cursor {
  readonly tokens: readonly Token[];
  readonly source: string;
  readonly limits: ExpressionLimits;
  /** Ids of nodes by their names. */
  readonly names: NodeNames;
  /** Expressions in parentheses: `(a || b) ?? c` is fine, `a || b ?? c` is not. */
  readonly grouped: WeakSet<Expression>;
  /** Parses a whole expression. Here, so that the files of the parser need not import each other in a circle. */
  readonly expression: (cursor: Cursor) => Expression;
  /** Names that an arrow function takes out of its parameter, such as `key` of `([key, value]) =>`, with what they stand for. */
  taken: ReadonlyMap<string, (cursor: Cursor, name: Token) => Expression>;
  index: number;
  nodes: number;
  depth: number;
}

/** The token under the cursor. The last one is the end, which nothing consumes. */
export function peek(cursor: Cursor): Token {
  return cursor.tokens[cursor.index]!;
}

/** The token under the cursor; moves on. */
export function next(cursor: Cursor): Token {
  return cursor.tokens[cursor.index++]!;
}

/** End of the token before the cursor. */
export function behind(cursor: Cursor): number {
  return cursor.tokens[cursor.index - 1]!.end;
}

/** Whether the token `ahead` of the cursor is that sign. */
export function isSign(cursor: Cursor, sign: string, ahead = 0): boolean {
  const token = cursor.tokens[cursor.index + ahead];
  return token !== undefined && token.kind === "sign" && token.text === sign;
}

/** Moves over a sign if it is there. */
export function take(cursor: Cursor, sign: string): boolean {
  const there = isSign(cursor, sign);
  if (there) cursor.index++;
  return there;
}

/** Moves over a sign that has to be there. */
export function expect(cursor: Cursor, sign: string, after: string): void {
  if (!take(cursor, sign)) unexpected(cursor, `"${sign}" ${after}`);
}

/** Ends parsing at the token under the cursor. */
export function unexpected(cursor: Cursor, wanted: string): never {
  const token = peek(cursor);
  refuseAt(cursor, token.start, `expected ${wanted}, not ${token.kind === "end" ? "the end" : JSON.stringify(token.text)}`);
}

/** Ends parsing at a position. */
export function refuseAt(cursor: Cursor, position: number, reason: string): never {
  refuseExpression(cursor.source, position, reason);
}

/** Counts a node against the limit, and gives it back. */
export function countNode<E extends { readonly start: number }>(cursor: Cursor, node: E): E {
  if (++cursor.nodes > cursor.limits.nodes) {
    refuseAt(cursor, node.start, `this expression has more than ${cursor.limits.nodes} parts; split it over several nodes`);
  }
  return node;
}

/** Goes one level down. The caller subtracts 1 from `depth` when it is done. */
export function deeper(cursor: Cursor): void {
  if (++cursor.depth > cursor.limits.depth) {
    refuseAt(cursor, peek(cursor).start, `this expression is nested deeper than ${cursor.limits.depth} levels`);
  }
}
