import type { CompileTemplate, NodeNames, ReadPath, Scope, Template, TemplateBounds } from "../core/definition/template.ts";
import type { Issue } from "../core/errors/issue.ts";
import { isJsonObject, type Json } from "../core/values/json.ts";
import { defaultLimits } from "../core/values/limits.ts";
import { shortPointerOf } from "../core/values/pointer.ts";
import { type Budget, evaluate, type Program } from "./compile/evaluate.ts";
import type { CompileExpressionOptions } from "./compile-expression.ts";
import { concatenate, toText } from "./evaluation/coerce.ts";
import { type ExpressionLimits, expressionLimits } from "./evaluation/expression-limits.ts";
import type { Frame } from "./evaluation/frame.ts";
import { type Pieces, splitText } from "./split-text.ts";

/** One evaluation of a template. */
interface Evaluation {
  readonly scope: Scope;
  readonly budget: Budget;
  readonly blanks: string[] | undefined;
}

/** Builds one value of a template. */
type Build = (evaluation: Evaluation) => unknown;

interface TemplateScan {
  /** The JSON pointer of the whole value. */
  readonly root: string;
  /** All mistakes found so far. */
  readonly issues: Issue[];
  /** The paths that the expressions read, each under its JSON text. */
  readonly reads: Map<string, ReadPath>;
  /** The JSON pointers of the strings that hold text besides their expressions; see `Template.texts`. */
  readonly texts: string[];
  readonly options: Omit<CompileExpressionOptions, "pointer">;
  readonly bounds: TemplateBounds;
  /** True if the rest was not read, because the work of reading was refused. */
  isCut: boolean;
}

/** All expressions of one template together, or of templates that share a budget, may use this many times the steps of one expression. */
const budgetShare = 2;

/** The bounds of a template that is compiled by itself. */
const defaultBounds: TemplateBounds = { steps: defaultLimits.expressionSteps, issues: defaultLimits.issues, read: () => true };

/**
 * Compiles the `{{ }}` expressions in a value once. Parts of the value without an expression come back from `evaluate` as they are,
 * not as copies.
 *
 * A string that is one expression, apart from blanks around it, evaluates to the value of the expression with its type. In a string
 * with text around its expressions, undefined and null become an empty text, objects and arrays become their JSON. An object member
 * that evaluates to undefined is left out, and an array item becomes null, as in JSON. Keys are never expressions. To get two braces
 * as text, write `{{ "{{" }}`.
 *
 * Where a missing field would silently remove a limit, undefined is refused instead: in the settings of a definition (`timeout`,
 * `concurrency`, `rateLimit`, `retryPolicy`), also in text around an expression, and in the data of a node where its type says so
 * (`guards`): `responders`, `quorum`, `key`, `timeout` and the like. The step then fails with `DATA_INVALID`, or the start with
 * `INPUT_INVALID`. Write a default where you want one: `"{{ input.within ?? '7 days' }}"`.
 *
 * ```ts
 * import { compileTemplate } from "stepfold/expressions";
 *
 * const { template } = compileTemplate({ total: "{{ input.price * 2 }}", note: "for {{ input.name }}" }, "/nodes/0/data");
 * console.log(template?.evaluate({ input: { price: 21, name: "Ada" } })); // { total: 42, note: 'for Ada' }
 * ```
 *
 * @param pointer the JSON pointer of the value in the definition; the pointer of every issue and error begins with it
 * @param names the id of each node by its name, for `$("Name")`
 * @returns the mistakes of all strings at once; `template` is null if no string holds a `{{`, or if there is a mistake
 */
export const compileTemplate: CompileTemplate = (value, pointer, names, bounds = defaultBounds) =>
  compileAt(value, pointer, { limits: expressionLimits(bounds.steps), names, isStored: false }, bounds);

/**
 * Compiles like `compileTemplate`, for a definition that was accepted before, perhaps by an earlier version. What earlier versions accepted
 * has the meaning that it had: a time without an offset is UTC, and letters without a meaning in a format of times stand for themselves.
 */
export const compileStoredTemplate: CompileTemplate = (value, pointer, names, bounds = defaultBounds) =>
  compileAt(value, pointer, { limits: expressionLimits(bounds.steps), names, isStored: true }, bounds);

/** Like `compileTemplate`, with other limits. `outputLength` limits the output of all expressions of the template together. */
export function compileTemplateWithin(
  value: Json,
  pointer: string,
  limits: ExpressionLimits,
  names?: NodeNames,
): ReturnType<CompileTemplate> {
  return compileAt(value, pointer, { limits, names, isStored: false }, defaultBounds);
}

function compileAt(value: Json, pointer: string, options: TemplateScan["options"], bounds: TemplateBounds): ReturnType<CompileTemplate> {
  const { limits } = options;
  const walk: TemplateScan = { root: pointer, issues: [], reads: new Map(), texts: [], options, bounds, isCut: false };
  const build = compileValue(walk, value, pointer, 0);
  if (build === null || walk.isCut || walk.issues.length > 0) return { template: null, issues: walk.issues };
  const template: Template = {
    reads: [...walk.reads.values()],
    texts: walk.texts,
    evaluate: (scope, together, blanks) => build({ scope, budget: together ? sharedPurse(together, limits) : fullBudget(limits), blanks }),
  };
  return { template, issues: [] };
}

/** The budget of each object that a caller of `Template.evaluate` has given as `together`. */
const budgets = new WeakMap<object, Budget>();

function fullBudget({ steps, outputLength }: ExpressionLimits): Budget {
  return { stepsLeft: steps * budgetShare, outputLeft: outputLength };
}

function sharedPurse(together: object, limits: ExpressionLimits): Budget {
  let budget = budgets.get(together);
  if (!budget) {
    budget = fullBudget(limits);
    budgets.set(together, budget);
  }
  return budget;
}

/**
 * Returns null if the value holds no expression, so that it is used as it is, if the value is nested too deeply, which is a mistake, or if
 * the search has ended.
 */
function compileValue(walk: TemplateScan, value: Json, pointer: string, depth: number): Build | null {
  if (walk.isCut || walk.issues.length > walk.bounds.issues) return null;
  if (typeof value === "string") return value.includes("{{") ? compileString(walk, value, pointer) : null;
  if (typeof value !== "object" || value === null) return null;
  if (depth > defaultLimits.depth) {
    walk.issues.push(issue(pointer, `this value is nested deeper than ${defaultLimits.depth} levels`));
    return null;
  }
  return isJsonObject(value) ? compileMembers(walk, value, pointer, depth) : compileItems(walk, value, pointer, depth);
}

function compileItems(walk: TemplateScan, value: readonly Json[], pointer: string, depth: number): Build | null {
  const builds = value.map((item, index) => compileValue(walk, item, `${pointer}/${index}`, depth + 1));
  if (builds.every((build) => build === null)) return null;
  return (evaluation) => builds.map((build, index) => (build === null ? value[index] : (build(evaluation) ?? null)));
}

function compileMembers(walk: TemplateScan, value: { readonly [key: string]: Json }, pointer: string, depth: number): Build | null {
  const entries = Object.keys(value).map((key) => {
    const constant = value[key]!;
    return { key, constant, build: compileValue(walk, constant, pointer + shortPointerOf([key]), depth + 1) };
  });
  if (entries.every(({ build }) => build === null)) return null;
  return (evaluation) => {
    const result: Record<string, unknown> = {};
    for (const { key, constant, build } of entries) setOwn(result, key, build === null ? constant : build(evaluation));
    return result;
  };
}

/** Sets a member, never the prototype: in a definition that was not checked a key may be `__proto__`. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function compileString(walk: TemplateScan, text: string, pointer: string): Build {
  const pieces = splitText(text, { ...walk.options, pointer }, walk.bounds);
  walk.isCut = pieces.isCut;
  for (const mistake of pieces.mistakes) walk.issues.push(issue(pointer, mistake));
  for (const path of pieces.reads) walk.reads.set(JSON.stringify(path), path);
  const [only] = pieces.programs;
  const whole = only !== undefined && pieces.programs.length === 1 && pieces.texts.every((piece) => piece.trim() === "");
  if (!whole && pieces.texts.some((piece) => piece !== "")) walk.texts.push(pointer);
  return whole ? ({ scope, budget }) => evaluate(only, scope, budget) : mix(pieces, pointer.slice(walk.root.length));
}

/** @param at the JSON pointer of the text in the whole value */
function mix({ texts, programs }: Pieces, at: string): Build {
  return (evaluation) => {
    let text = texts[0]!;
    for (const [index, program] of programs.entries()) text = append(program, evaluation, at, text, texts[index + 1]!);
    return text;
  };
}

/** Appends an expression's value as text, and the text after it. This work counts against the same budget as the evaluation. */
function append(program: Program, { scope, budget, blanks }: Evaluation, at: string, before: string, after: string): string {
  const value = evaluate(program, scope, budget);
  if (value === undefined) blanks?.push(at);
  const frame: Frame = { unit: program.unit, scope, locals: [], stepsLeft: budget.stepsLeft, outputLeft: budget.outputLeft, draws: 0 };
  const inserted = value === null || value === undefined ? "" : toText(frame, 0, value);
  const text = concatenate(frame, concatenate(frame, before, inserted), after);
  budget.stepsLeft = frame.stepsLeft;
  budget.outputLeft = frame.outputLeft;
  return text;
}

function issue(pointer: string, message: string): Issue {
  return { severity: "error", code: "EXPRESSION_INVALID", pointer, message };
}
