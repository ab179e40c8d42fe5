import { payToRead } from "../evaluation/coerce.ts";
import { type Evaluate, type Frame, failEvaluation } from "../evaluation/frame.ts";
import { kindOf } from "../evaluation/read-member.ts";
import type { Callback, CallSite, ListedFunction } from "../functions/argument.ts";
import { arrayCallbacks } from "../functions/array-callbacks.ts";
import { arrayMethods } from "../functions/array-methods.ts";
import { maxDateArguments, tooManyDateArguments } from "../functions/date-functions.ts";
import { extraAlone, extraFunction, extraMethods, extraNamespaces, requireExtraFunctions } from "../functions/extra-functions.ts";
import { functions, namespaces } from "../functions/functions.ts";
import { numberMethods } from "../functions/number-methods.ts";
import { textMethods } from "../functions/text-methods.ts";
import type { Call, Expression } from "../syntax/syntax.ts";
import { compileParts, listOf } from "./compile-literal.ts";
import { functionNames, isNamespace, missing, roots, unknown } from "./compile-member.ts";
import { type Compiler, compileArrow, reject, skipped, sourceText } from "./compiler.ts";
import { didYouMean } from "./nearest.ts";
import { refuseConstants } from "./refuse-constants.ts";

const callableNames: ReadonlySet<string> = new Set([
  ...textMethods.keys(),
  ...arrayMethods.keys(),
  ...arrayCallbacks.keys(),
  ...numberMethods.keys(),
  ...extraMethods,
]);

/** The methods that can be called on null and undefined, with their result there. All other methods fail, unless `?.` precedes them. */
const answersOfNothing: ReadonlyMap<string, boolean> = new Map([
  ["isEmpty", true],
  ["isNotEmpty", false],
]);

/** Names of JavaScript that are refused, with the reason for the error message. `Date.now` and `DateTime.now` are found before. */
const absentMethods: ReadonlyMap<string, string> = new Map([
  ["now", "the clock would make an execution differ each time it is replayed; use $now"],
  ["push", "expressions change nothing; write [...items, item]"],
  ["forEach", "it gives nothing; use map"],
  ["toLocaleString", "its result differs from machine to machine"],
  ["localeCompare", "its result differs from machine to machine; compare with <"],
]);

/**
 * Compiles a call of a listed function or method. The type of the receiver is known
 * only when the expression runs, so a method is selected by that type then.
 */
export function compileCall(compiler: Compiler, node: Call): Evaluate {
  const { receiver, name, at } = node;
  if (receiver === null) {
    const isLocal = compiler.locals.has(name);
    const listed = isLocal ? undefined : (functions.get(name) ?? (extraAlone.has(name) ? requiredFunction(name) : undefined));
    if (listed === undefined) notAFunction(compiler, name, at);
    return compileFunction(compiler, node, name, listed);
  }
  if (receiver.kind === "name" && !compiler.locals.has(receiver.name) && isNamespace(receiver.name)) {
    const table = namespaces.get(receiver.name);
    const extra = extraNamespaces.get(receiver.name) ?? [];
    const listed = table?.get(name) ?? (extra.includes(name) ? requiredFunction(`${receiver.name}.${name}`) : undefined);
    if (listed === undefined)
      absent(
        compiler,
        `${receiver.name}.${name}`,
        name,
        at,
        `${didYouMean(name, table?.keys() ?? extra)} It has ${functionNames(receiver.name)}`,
      );
    if (receiver.name === "date") refuseTooMany(compiler, node);
    return compileFunction(compiler, node, `${receiver.name}.${name}`, listed);
  }
  if (!callableNames.has(name))
    absent(compiler, name, name, at, `${didYouMean(name, callableNames)} Known: ${[...callableNames].join(", ")}`);
  return compileMethod(compiler, node, receiver);
}

/** Returns an extra function, and notes that the code of the extra functions has to be loaded. */
function requiredFunction(name: string): ListedFunction {
  requireExtraFunctions();
  return extraFunction(name);
}

/**
 * Refuses a call of a `date` function with too many arguments. With a spread argument the number is
 * known only when the expression runs, so the function itself checks it at each call.
 */
function refuseTooMany(compiler: Compiler, { name, at, items }: Call): void {
  const isKnown = !items.some(({ spread }) => spread);
  if (isKnown && items.length > maxDateArguments.get(name)!) reject(compiler, at, tooManyDateArguments(name, items.length));
}

function absent(compiler: Compiler, shown: string, name: string, position: number, otherwise: string): never {
  const reason = absentMethods.get(name);
  reject(compiler, position, `"${shown}" is not available in expressions${reason === undefined ? `.${otherwise}` : `: ${reason}`}`);
}

function notAFunction(compiler: Compiler, name: string, position: number): never {
  const value = compiler.locals.has(name) || isNamespace(name) || roots.includes(name);
  if (!value) unknown(compiler, name, position);
  reject(compiler, position, `"${name}" is not a function. Functions: ${[...functions.keys()].join(", ")}`);
}

/** @param qualified the name with its namespace, such as `date.iso` */
function compileFunction(compiler: Compiler, { name, at, items }: Call, qualified: string, listed: ListedFunction): Evaluate {
  const parts = compileParts(compiler, items);
  refuseConstants(compiler, qualified, parts, null);
  const args = listOf(parts);
  const site: CallSite = { name, position: at, callback: null };
  return (frame) => listed(frame, site, undefined, args(frame));
}

function compileMethod(compiler: Compiler, node: Call, receiver: Expression): Evaluate {
  const { name, at, optional } = node;
  const owner = compiler.compile(compiler, receiver);
  const callback: Callback | null = node.callback === null ? null : compileArrow(compiler, node.callback);
  const parts = compileParts(compiler, node.items);
  refuseConstants(compiler, name, parts, { run: owner, position: receiver.start, spread: false });
  const args = listOf(parts);
  const site: CallSite = { name, position: at, callback };
  const ofText = textMethods.get(name);
  const ofArray = arrayMethods.get(name) ?? arrayCallbacks.get(name);
  const ofNumber = numberMethods.get(name);
  const extra = extraMethods.has(name) ? requiredFunction(name) : undefined;
  const ofNothing = answersOfNothing.get(name);
  const nothing = optional ? (): unknown => skipped : missing(sourceText(compiler, receiver), `${name}()`, at);
  return (frame) => {
    const self = owner(frame);
    if (self === undefined || self === null || self === skipped) return ofNothing ?? nothing(frame, self);
    if (typeof self === "string" && ofText !== undefined) return ofText(frame, site, payToRead(frame, self), args(frame));
    if (ofArray !== undefined && Array.isArray(self)) return ofArray(frame, site, self, args(frame));
    if (typeof self === "number" && ofNumber !== undefined) return ofNumber(frame, site, self, args(frame));
    if (typeof self === "boolean" && name === "toString") return String(self);
    if (extra !== undefined) return extra(frame, site, self, args(frame));
    return wrongType(frame, site, sourceText(compiler, receiver), self);
  };
}

function wrongType(frame: Frame, site: CallSite, owner: string, self: unknown): never {
  // The blank in "arrays " makes a second key for arrays; `trim` removes it.
  const tables = { texts: textMethods, arrays: arrayMethods, numbers: numberMethods, "arrays ": arrayCallbacks };
  const fits = Object.entries(tables).flatMap(([type, table]) => (table.has(site.name) ? [type.trim()] : []));
  failEvaluation(frame, site.position, `${site.name}() works on ${fits.join(" and ")}, but ${owner} is ${kindOf(self)}`);
}
