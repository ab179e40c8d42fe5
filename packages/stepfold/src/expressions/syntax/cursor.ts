import type { NodeNames } from "../../core/definition/template.ts";
import type { ExpressionLimits } from "../evaluation/expression-limits.ts";
import { refuseExpression } from "../evaluation/frame.ts";
import type { Token } from "./scanner.ts";
import type { Expression } from "./syntax.ts";

/** The state of a parser: its tokens, its position and its limits. */
export interface Cursor {
  readonly tokens: readonly Token[];
  readonly source: string;
  readonly limits: ExpressionLimits;
  /** The id of each node of the workflow by its name, for `$("Name")`. */
  readonly names: NodeNames;
  /**
   * The expressions that stood in parentheses: `(a || b) ?? c` is allowed, `a || b ?? c` is not. It also holds the members that
   * stand for destructured names, because neither can be called.
   */
  readonly grouped: WeakSet<Expression>;
  /** Parses a whole expression. It is a field, so that the files of the parser need not import each other in a circle. */
  readonly expression: (cursor: Cursor) => Expression;
  /**
   * The names that an arrow function destructures from its parameter, such as `key` in
   * `([key, value]) =>`, each with a function that builds the expression that the name stands for.
   */
  destructured: ReadonlyMap<string, (cursor: Cursor, name: Token) => Expression>;
  /** The index of the token under the cursor. */
  index: number;
  /** The number of syntax nodes so far. */
  nodes: number;
  /** The current depth of nesting. */
  depth: number;
}

/** Returns the token under the cursor. The last token is the end of the expression, and the parser reads no token after it. */
export function peek(cursor: Cursor): Token {
  return cursor.tokens[cursor.index]!;
}

/** Returns the token under the cursor and moves to the next one. */
export function next(cursor: Cursor): Token {
  return cursor.tokens[cursor.index++]!;
}

/** Returns the position in the source where the token before the cursor ends. */
export function previousEnd(cursor: Cursor): number {
  return cursor.tokens[cursor.index - 1]!.end;
}

/** True if the token that stands `ahead` tokens after the cursor is this punctuator (an operator, a bracket or a comma, for example). */
export function isPunctuator(cursor: Cursor, punctuator: string, ahead = 0): boolean {
  const token = cursor.tokens[cursor.index + ahead];
  return token !== undefined && token.kind === "punctuator" && token.text === punctuator;
}

/** Moves past a punctuator if it is under the cursor, and returns whether it was there. */
export function takePunctuator(cursor: Cursor, punctuator: string): boolean {
  const there = isPunctuator(cursor, punctuator);
  if (there) cursor.index++;
  return there;
}

/**
 * Moves past a punctuator, and refuses the expression if the punctuator is missing.
 * `after` completes the message: `expected ")" after the arguments`.
 */
export function expect(cursor: Cursor, punctuator: string, after: string): void {
  if (!takePunctuator(cursor, punctuator)) unexpected(cursor, `"${punctuator}" ${after}`);
}

/** Refuses the expression with an error that points at the token under the cursor. */
export function unexpected(cursor: Cursor, wanted: string): never {
  const token = peek(cursor);
  refuseAt(cursor, token.start, `expected ${wanted}, not ${token.kind === "end" ? "the end" : JSON.stringify(token.text)}`);
}

/** Refuses the expression with an error that points at a position in the source. */
export function refuseAt(cursor: Cursor, position: number, reason: string): never {
  refuseExpression(cursor.source, position, reason);
}

/** Counts a syntax node and returns it. Refuses the expression if it has too many. */
export function countNode<E extends { readonly start: number }>(cursor: Cursor, node: E): E {
  if (++cursor.nodes > cursor.limits.nodes) {
    refuseAt(cursor, node.start, `this expression has more than ${cursor.limits.nodes} parts; split it into several nodes of the workflow`);
  }
  return node;
}

/** Enters another level of nesting. The caller subtracts 1 from `depth` when it leaves the level. */
export function deeper(cursor: Cursor): void {
  if (++cursor.depth > cursor.limits.depth) {
    refuseAt(cursor, peek(cursor).start, `this expression is nested deeper than ${cursor.limits.depth} levels`);
  }
}
