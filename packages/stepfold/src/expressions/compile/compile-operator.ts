import { toNumber } from "../evaluation/coerce.ts";
import type { Evaluate } from "../evaluation/frame.ts";
import { type Operate, operators } from "../functions/operate.ts";
import type { Binary, BinaryOperator, Conditional, Logical, Unary } from "../syntax/syntax.ts";
import { type Compiler, foldConstants } from "./compiler.ts";

/** Compiles a prefix operator. */
export function compileUnary(compiler: Compiler, { operator, operand, start }: Unary): Evaluate {
  const run = compiler.compile(compiler, operand);
  if (operator === "!") return foldConstants((frame) => !run(frame), run);
  if (operator === "typeof") return foldConstants((frame) => typeOf(run(frame)), run);
  if (operator === "+") return foldConstants((frame) => toNumber(frame, start, run(frame)), run);
  return foldConstants((frame) => -toNumber(frame, start, run(frame)), run);
}

/** Returns the type of a value as JavaScript does, except that a function, which is not data, is an "object". */
function typeOf(value: unknown): string {
  return typeof value === "function" ? "object" : typeof value;
}

/** Compiles `&&`, `||` and `??`: the right side is computed only if it is needed. */
export function compileLogical(compiler: Compiler, node: Logical): Evaluate {
  const left = compiler.compile(compiler, node.left);
  const right = compiler.compile(compiler, node.right);
  if (node.operator === "&&") return foldConstants((frame) => left(frame) && right(frame), left, right);
  if (node.operator === "||") return foldConstants((frame) => left(frame) || right(frame), left, right);
  return foldConstants((frame) => left(frame) ?? right(frame), left, right);
}

/** Compiles `a ? b : c`. */
export function compileConditional(compiler: Compiler, node: Conditional): Evaluate {
  const test = compiler.compile(compiler, node.test);
  const then = compiler.compile(compiler, node.then);
  const otherwise = compiler.compile(compiler, node.otherwise);
  return foldConstants((frame) => (test(frame) ? then(frame) : otherwise(frame)), test, then, otherwise);
}

type Fast = (left: Evaluate, right: Evaluate, slow: Operate, at: number) => Evaluate;

/**
 * Fast paths for two numbers, which are the usual case: the JavaScript
 * engine runs an operator fastest if it is written out in the code.
 */
const fast: Readonly<Partial<Record<BinaryOperator, Fast>>> = {
  "+": (left, right, slow, at) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a + b : slow(frame, at, a, b);
  },
  "-": (left, right, slow, at) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a - b : slow(frame, at, a, b);
  },
  "*": (left, right, slow, at) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a * b : slow(frame, at, a, b);
  },
  "/": (left, right, slow, at) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a / b : slow(frame, at, a, b);
  },
  ">": (left, right, slow, at) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a > b : slow(frame, at, a, b);
  },
  "<": (left, right, slow, at) => (frame) => {
    const a = left(frame);
    const b = right(frame);
    return typeof a === "number" && typeof b === "number" ? a < b : slow(frame, at, a, b);
  },
};

/** Compiles an operator between two values. */
export function compileBinary(compiler: Compiler, { operator, left, right, at }: Binary): Evaluate {
  const a = compiler.compile(compiler, left);
  const b = compiler.compile(compiler, right);
  const slow = operators[operator];
  const run: Evaluate = fast[operator]?.(a, b, slow, at) ?? ((frame) => slow(frame, at, a(frame), b(frame)));
  return foldConstants(run, a, b);
}
