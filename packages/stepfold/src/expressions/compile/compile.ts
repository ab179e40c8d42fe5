import type { Evaluate, Unit } from "../evaluation/frame.ts";
import type { Expression } from "../syntax/syntax.ts";
import { compileCall } from "./compile-call.ts";
import { compileArray, compileObject, compileText } from "./compile-literal.ts";
import { compileChain, compileMember, compileName, compileRequired } from "./compile-member.ts";
import { compileBinary, compileConditional, compileLogical, compileUnary } from "./compile-operator.ts";
import { compilePatternLiteral } from "./compile-pattern-literal.ts";
import { type Compiler, constant } from "./compiler.ts";

/** An expression ready to run. */
export interface Code {
  readonly run: Evaluate;
  /** The number of slots for arrow parameters that a frame needs. */
  readonly slots: number;
  /** True if the value may hold something that is not data, so that it has to be checked and copied. */
  readonly needsCopy: boolean;
}

/**
 * Turns syntax into closures.
 *
 * @throws StepfoldError `EXPRESSION_INVALID`, for example for names and functions that do not exist
 */
export function compileSyntax(expression: Expression, { source, isStored }: Pick<Unit, "source" | "isStored">): Code {
  const compiler: Compiler = { source, isStored, compile: compileNode, locals: new Map(), slots: 0, needsCopy: false };
  const run = compileNode(compiler, expression);
  return { run, slots: compiler.slots, needsCopy: compiler.needsCopy };
}

function compileNode(compiler: Compiler, node: Expression): Evaluate {
  switch (node.kind) {
    case "literal":
      return constant(node.value);
    case "name":
      return compileName(compiler, node);
    case "member":
      return compileMember(compiler, node);
    case "chain":
      return compileChain(compiler, node.expression);
    case "call":
      return compileCall(compiler, node);
    case "required":
      return compileRequired(compiler, node);
    case "pattern":
      return compilePatternLiteral(compiler, node);
    case "unary":
      return compileUnary(compiler, node);
    case "binary":
      return compileBinary(compiler, node);
    case "logical":
      return compileLogical(compiler, node);
    case "conditional":
      return compileConditional(compiler, node);
    case "text":
      return compileText(compiler, node);
    case "array":
      return compileArray(compiler, node);
    case "object":
      return compileObject(compiler, node);
  }
}
