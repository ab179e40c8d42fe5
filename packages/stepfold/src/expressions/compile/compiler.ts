import { defaultExpressionLimits } from "../evaluation/expression-limits.ts";
import { charge, type Evaluate, type Frame, refuseExpression } from "../evaluation/frame.ts";
import type { Callback } from "../functions/argument.ts";
import type { Arrow, Expression } from "../syntax/syntax.ts";

/** The state of the compilation of one expression. */
export interface Compiler {
  readonly source: string;
  /** See `Unit.isStored`. Constants that were accepted before are not refused. */
  readonly isStored: boolean;
  /** Compiles any syntax. It is a field, so that the files of the compiler need not import each other in a circle. */
  readonly compile: (compiler: Compiler, node: Expression) => Evaluate;
  /** The arrow parameters that are visible at the current place, with their slots. */
  locals: ReadonlyMap<string, number>;
  /** The number of slots used so far. */
  slots: number;
  /** True if the expression reads `globals`, which are not checked, or holds a regular expression. Its value is checked and copied then. */
  needsCopy: boolean;
}

/** The value of a chain after a `?.` has cut it short. `compileChain` replaces it by undefined, so it never leaves the chain. */
export const skipped: unique symbol = Symbol("skip");

/** The frame in which constant parts are evaluated at compile time. Its budget is unlimited. */
const folding: Frame = {
  unit: { source: "", pointer: undefined, limits: defaultExpressionLimits, offset: 0, isStored: false },
  scope: {},
  locals: [],
  stepsLeft: Number.MAX_SAFE_INTEGER,
  outputLeft: Number.MAX_SAFE_INTEGER,
  draws: 0,
};

/** The value of each piece of code that is constant. */
const constants: WeakMap<Evaluate, { readonly value: unknown }> = new WeakMap();

/** Returns code whose value is always `value`. */
export function constant(value: unknown): Evaluate {
  const run: Evaluate = () => value;
  constants.set(run, { value });
  return run;
}

/** Returns the value of `run` if it is constant, else undefined. */
export function constantOf(run: Evaluate): { readonly value: unknown } | undefined {
  return constants.get(run);
}

/** Evaluates `run` at compile time if all its parts are constant; else returns `run` itself. */
export function foldConstants(run: Evaluate, ...parts: readonly Evaluate[]): Evaluate {
  if (!parts.every((part) => constants.has(part))) return run;
  try {
    return constant(run(folding));
  } catch {
    // an expression that always fails, such as `"a" in 5`, fails when it is evaluated
    return run;
  }
}

/** Returns the source of a piece of syntax for messages, shortened to 60 characters. */
export function sourceText(compiler: Compiler, node: Expression): string {
  const text = compiler.source.slice(node.start, node.end);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** Refuses the expression with an error that points at a position. */
export function reject(compiler: Compiler, position: number, reason: string): never {
  refuseExpression(compiler.source, position, reason);
}

/** Compiles an arrow function. Each call costs one step for every 16 syntax nodes of its body, rounded up. */
export function compileArrow(compiler: Compiler, arrow: Arrow): Callback {
  const before = compiler.locals;
  const first = compiler.slots;
  compiler.slots += arrow.params.length;
  compiler.locals = new Map([...before, ...arrow.params.map((name, index): [string, number] => [name, first + index])]);
  const body = compiler.compile(compiler, arrow.body);
  compiler.locals = before;
  const count = arrow.params.length;
  const steps = Math.max(1, Math.ceil(arrow.size / 16));
  return (frame, a, b, c) => {
    charge(frame, steps);
    const { locals } = frame;
    if (count > 0) locals[first] = a;
    if (count > 1) locals[first + 1] = b;
    if (count > 2) locals[first + 2] = c;
    return body(frame);
  };
}
