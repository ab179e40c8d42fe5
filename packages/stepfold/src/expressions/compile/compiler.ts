import { defaultExpressionLimits } from "../evaluation/expression-limits.ts";
import { charge, type Evaluate, type Frame, refuseExpression } from "../evaluation/frame.ts";
import type { Callback } from "../functions/argument.ts";
import type { Arrow, Expression } from "../syntax/syntax.ts";

/** What the compilation of one expression shares. */
export interface Compiler {
  readonly source: string;
  /** Compiles any syntax. Here, so that the files of the compiler need not import each other in a circle. */
  readonly compile: (compiler: Compiler, node: Expression) => Evaluate;
  /** Arrow parameters in sight, with their slots. */
  locals: ReadonlyMap<string, number>;
  slots: number;
  /** Whether it reads `globals`, which are not checked. */
  untrusted: boolean;
}

/** What a `?.` leaves behind until its chain ends; never seen outside one. */
export const skipped: unique symbol = Symbol("skip");

/** The frame of literals: evaluating them cannot fail. */
const folding: Frame = {
  unit: { source: "", pointer: undefined, limits: defaultExpressionLimits, offset: 0 },
  scope: {},
  locals: [],
  steps: Number.MAX_SAFE_INTEGER,
  room: Number.MAX_SAFE_INTEGER,
  draws: 0,
};

const constants: WeakMap<Evaluate, { readonly value: unknown }> = new WeakMap();

/** A piece of code that always gives `value`. */
export function constant(value: unknown): Evaluate {
  const run: Evaluate = () => value;
  constants.set(run, { value });
  return run;
}

/** What `run` always gives, if it does. */
export function constantOf(run: Evaluate): { readonly value: unknown } | undefined {
  return constants.get(run);
}

/** Computes what depends on constants only, once. */
export function foldConstants(run: Evaluate, ...parts: readonly Evaluate[]): Evaluate {
  return parts.every((part) => constants.has(part)) ? constant(run(folding)) : run;
}

/** The text of a piece of syntax, for messages. */
export function sourceText(compiler: Compiler, node: Expression): string {
  const text = compiler.source.slice(node.start, node.end);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** Ends compilation at a position. */
export function reject(compiler: Compiler, position: number, reason: string): never {
  refuseExpression(compiler.source, position, reason);
}

/** Compiles an arrow function. Every call of it pays for the size of its body. */
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
