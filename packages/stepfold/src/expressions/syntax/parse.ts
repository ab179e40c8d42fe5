import type { NodeNames } from "../../core/definition/template.ts";
import type { ExpressionLimits } from "../evaluation/expression-limits.ts";
import {
  type Cursor,
  countNode,
  deeper,
  expect,
  isPunctuator,
  next,
  peek,
  previousEnd,
  refuseAt,
  takePunctuator,
  unexpected,
} from "./cursor.ts";
import { parsePostfix } from "./parse-postfix.ts";
import type { Token } from "./scanner.ts";
import type { BinaryOperator, Expression, Logical, Unary } from "./syntax.ts";

/**
 * How tightly each operator binds. `**` is missing here: it is right-associative and
 * binds more tightly than a prefix, so `parseUnary` parses it.
 */
const precedences: ReadonlyMap<string, number> = new Map(
  [["??"], ["||"], ["&&"], ["==", "!=", "===", "!=="], ["<", "<=", ">", ">=", "in"], ["+", "-"], ["*", "/", "%"]].flatMap(
    (operators, index) => operators.map((operator): [string, number] => [operator, index + 1]),
  ),
);

const noNames: NodeNames = new Map();

/**
 * Parses tokens into syntax, in time linear in their number.
 *
 * @throws StepfoldError `EXPRESSION_INVALID`
 */
export function parse(tokens: readonly Token[], source: string, limits: ExpressionLimits, names: NodeNames = noNames): Expression {
  const cursor: Cursor = {
    tokens,
    source,
    limits,
    names,
    grouped: new WeakSet(),
    destructured: new Map(),
    expression: parseExpression,
    index: 0,
    nodes: 0,
    depth: 0,
  };
  const expression = parseExpression(cursor);
  if (peek(cursor).kind !== "end") unexpected(cursor, "an operator or the end");
  return expression;
}

/**
 * Parses a conditional expression, or an expression that binds more tightly. A long `a ? b : c ? d : e` is
 * parsed in a loop, so its length does not count as nesting; each branch before a `:` is one level deeper.
 */
function parseExpression(cursor: Cursor): Expression {
  deeper(cursor);
  const cases: { readonly test: Expression; readonly then: Expression }[] = [];
  const { start } = peek(cursor);
  let last = parseBinary(cursor, 0);
  while (takePunctuator(cursor, "?")) {
    const then = parseExpression(cursor);
    expect(cursor, ":", "and the other branch");
    cases.push({ test: last, then });
    last = parseBinary(cursor, 0);
  }
  cursor.depth--;
  const end = previousEnd(cursor);
  return cases.reduceRight(
    (otherwise, { test, then }) => countNode(cursor, { kind: "conditional", test, then, otherwise, start, end }),
    last,
  );
}

/** Parses binary operators that bind more tightly than `least`. */
function parseBinary(cursor: Cursor, least: number): Expression {
  const { start } = peek(cursor);
  let left = parseUnary(cursor, true);
  for (;;) {
    const { kind, text, start: at } = peek(cursor);
    const power = kind === "punctuator" || (kind === "name" && text === "in") ? (precedences.get(text) ?? 0) : 0;
    if (power <= least) return left;
    cursor.index++;
    const right = parseBinary(cursor, power);
    left = countNode(cursor, combine(cursor, text, left, right, at, start));
  }
}

function combine(cursor: Cursor, operator: string, left: Expression, right: Expression, at: number, start: number): Expression {
  const end = previousEnd(cursor);
  if (operator !== "&&" && operator !== "||" && operator !== "??") {
    return { kind: "binary", operator: operator as BinaryOperator, left, right, at, start, end };
  }
  if (mixes(cursor, operator, left) || mixes(cursor, operator, right)) {
    refuseAt(cursor, at, "?? cannot be mixed with || and && without brackets: write (a || b) ?? c");
  }
  return { kind: "logical", operator, left, right, start, end };
}

/**
 * True if `??` would be mixed with `||` or `&&` without parentheses.
 * JavaScript refuses this too, because readers disagree on its meaning.
 */
function mixes(cursor: Cursor, operator: Logical["operator"], operand: Expression): boolean {
  return operand.kind === "logical" && (operand.operator === "??") !== (operator === "??") && !cursor.grouped.has(operand);
}

/** Parses prefix operators and `**`. @param mayRaise false after a prefix, where `**` would be ambiguous */
function parseUnary(cursor: Cursor, mayRaise: boolean): Expression {
  const { kind, text, start } = peek(cursor);
  const prefix = (kind === "punctuator" && (text === "!" || text === "-" || text === "+")) || (kind === "name" && text === "typeof");
  if (prefix) {
    deeper(cursor);
    next(cursor);
    const operand = parseUnary(cursor, false);
    cursor.depth--;
    return countNode(cursor, { kind: "unary", operator: text as Unary["operator"], operand, start, end: previousEnd(cursor) });
  }
  const left = parsePostfix(cursor);
  if (!isPunctuator(cursor, "**")) return left;
  const { start: at } = next(cursor);
  if (!mayRaise) refuseAt(cursor, at, "a prefix before ** is ambiguous: write (-a) ** 2 or -(a ** 2)");
  const right = parseUnary(cursor, true);
  return countNode(cursor, { kind: "binary", operator: "**", left, right, at, start, end: previousEnd(cursor) });
}
