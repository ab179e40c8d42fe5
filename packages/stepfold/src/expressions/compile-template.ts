import type { CompileTemplate, NodeNames, ReadPath, Scope, Template } from "../core/definition/template.ts";
import type { Issue } from "../core/errors/issue.ts";
import { isJsonObject, type Json } from "../core/values/json.ts";
import { defaultLimits } from "../core/values/limits.ts";
import { evaluate, type Program, type Purse } from "./compile/evaluate.ts";
import { concatenate, toText } from "./evaluation/coerce.ts";
import { defaultExpressionLimits, type ExpressionLimits } from "./evaluation/expression-limits.ts";
import type { Frame } from "./evaluation/frame.ts";
import { type Pieces, splitText } from "./split-text.ts";

/** Builds one value of a template. */
type Build = (scope: Scope, purse: Purse) => unknown;

interface TemplateScan {
  readonly issues: Issue[];
  readonly reads: Map<string, ReadPath>;
  readonly texts: string[];
  readonly limits: ExpressionLimits;
  readonly names: NodeNames | undefined;
}

/** All expressions of a template may take this many times the steps of one. */
const budgetShare = 10;

/**
 * The `{{ }}` in a value, compiled once. What holds none comes back from `evaluate` as it is, not as a copy.
 *
 * A string that is one expression, blanks around it aside, keeps the type of its value. In mixed text undefined and
 * null become nothing, objects and arrays their JSON. An object member that evaluates to undefined is left out, an
 * array item becomes null, as in JSON. Keys are never expressions. For two braces as text, write `{{ "{{" }}`.
 *
 * ```ts
 * const { template } = compileTemplate({ total: "{{ input.price * 2 }}", note: "for {{ input.name }}" }, "/nodes/0/data");
 * template?.evaluate({ input: { price: 21, name: "Ada" } }); // { total: 42, note: "for Ada" }
 * ```
 *
 * @param pointer where the value stands in the definition: every issue and every error carries it
 * @param names ids of nodes by their names, for `$("Name")`
 * @returns all mistakes at once; `template` is null if there is no `{{`, or if there is a mistake
 */
export const compileTemplate: CompileTemplate = (value, pointer, names) =>
  compileTemplateWithin(value, pointer, defaultExpressionLimits, names);

/** `compileTemplate` under limits of your own. `outputLength` is for all expressions of the template together. */
export function compileTemplateWithin(
  value: Json,
  pointer: string,
  limits: ExpressionLimits,
  names?: NodeNames,
): ReturnType<CompileTemplate> {
  const walk: TemplateScan = { issues: [], reads: new Map(), texts: [], limits, names };
  const build = compileValue(walk, value, pointer, 0);
  if (build === null || walk.issues.length > 0) return { template: null, issues: walk.issues };
  const template: Template = {
    reads: [...walk.reads.values()],
    texts: walk.texts,
    evaluate: (scope, together) => build(scope, together ? sharedPurse(together, limits) : fullPurse(limits)),
  };
  return { template, issues: [] };
}

const purses = new WeakMap<object, Purse>();

function fullPurse({ steps, outputLength }: ExpressionLimits): Purse {
  return { steps: steps * budgetShare, room: outputLength };
}

function sharedPurse(together: object, limits: ExpressionLimits): Purse {
  let purse = purses.get(together);
  if (!purse) {
    purse = fullPurse(limits);
    purses.set(together, purse);
  }
  return purse;
}

/** Null where there is nothing to build: the value stands for itself. */
function compileValue(walk: TemplateScan, value: Json, pointer: string, depth: number): Build | null {
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
  return (scope, purse) => builds.map((build, index) => (build === null ? value[index] : (build(scope, purse) ?? null)));
}

function compileMembers(walk: TemplateScan, value: { readonly [key: string]: Json }, pointer: string, depth: number): Build | null {
  const entries = Object.keys(value).map((key) => {
    const constant = value[key]!;
    return { key, constant, build: compileValue(walk, constant, `${pointer}/${pointerKey(key)}`, depth + 1) };
  });
  if (entries.every(({ build }) => build === null)) return null;
  return (scope, purse) => {
    const result: Record<string, unknown> = {};
    for (const { key, constant, build } of entries) {
      const member = build === null ? constant : build(scope, purse);
      if (member !== undefined) setOwn(result, key, member);
    }
    return result;
  };
}

/** Sets a member without ever setting a prototype: a definition that was not checked can have any key. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function compileString(walk: TemplateScan, text: string, pointer: string): Build {
  const pieces = splitText(text, pointer, walk.limits, walk.names);
  for (const mistake of pieces.mistakes) walk.issues.push(issue(pointer, mistake));
  for (const path of pieces.reads) walk.reads.set(JSON.stringify(path), path);
  const [only] = pieces.programs;
  const whole = only !== undefined && pieces.programs.length === 1 && pieces.texts.every((piece) => piece.trim() === "");
  if (!whole && pieces.texts.some((piece) => piece !== "")) walk.texts.push(pointer);
  return whole ? (scope, purse) => evaluate(only, scope, purse) : mix(pieces);
}

function mix({ texts, programs }: Pieces): Build {
  return (scope, purse) => {
    let text = texts[0]!;
    for (const [index, program] of programs.entries()) text = append(program, scope, purse, text, texts[index + 1]!);
    return text;
  };
}

/** Makes the text of a value. This work counts against the same budget as the evaluation. */
function append(program: Program, scope: Scope, purse: Purse, before: string, after: string): string {
  const value = evaluate(program, scope, purse);
  const frame: Frame = { unit: program.unit, scope, locals: [], steps: purse.steps, room: purse.room, draws: 0 };
  const inserted = value === null || value === undefined ? "" : toText(frame, 0, value);
  const text = concatenate(frame, concatenate(frame, before, inserted), after);
  purse.steps = frame.steps;
  purse.room = frame.room;
  return text;
}

function issue(pointer: string, message: string): Issue {
  return { severity: "error", code: "EXPRESSION_INVALID", pointer, message };
}

/** RFC 6901. */
function pointerKey(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
