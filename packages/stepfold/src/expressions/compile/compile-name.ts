import { fail, type Run } from "../evaluation/frame.ts";
import { functions, namespaces } from "../functions/functions.ts";
import type { Name } from "../syntax/syntax.ts";
import { type Compiler, reject } from "./compiler.ts";
import { didYouMean } from "./nearest.ts";

/** Every name that a scope may hold. */
export const roots: readonly string[] = [
  "nodes",
  "input",
  "inputs",
  "globals",
  "metadata",
  "item",
  "$json",
  "$now",
  "error",
  "attempt",
  "paths",
  "results",
  "total",
  "done",
  "failed",
];

/** Names that only the parser knows: it rewrites what stands after them. */
const ALIASES = ["$input", "$"];

/** Compiles a name that stands for a value. */
export function compileName(compiler: Compiler, { name, start }: Name): Run {
  const slot = compiler.locals.get(name);
  if (slot !== undefined) return (frame) => frame.locals[slot];
  if (name === "nodes") reject(compiler, start, "nodes cannot be read as a whole: name a node, as in nodes.charge.last.data");
  if (functions.has(name)) reject(compiler, start, `${name} is a function: call it, as in ${name}(input)`);
  if (namespaces.has(name)) reject(compiler, start, `${name} is no value: call one of its functions, ${listOf(name)}`);
  if (!roots.includes(name)) unknown(compiler, name, start);
  if (name === "globals") compiler.untrusted = true;
  if (name === "$now") return now(start);
  return (frame) => (Object.hasOwn(frame.scope, name) ? frame.scope[name] : undefined);
}

/** Ends compilation at a name that nothing has. */
export function unknown(compiler: Compiler, name: string, position: number): never {
  const known = [...new Set([...compiler.locals.keys(), ...roots, ...ALIASES, ...functions.keys(), ...namespaces.keys()])];
  reject(compiler, position, `"${name}" is not known here.${didYouMean(name, known)} Known: ${known.join(", ")}`);
}

/** The functions of a namespace, for messages. */
export function listOf(namespace: string): string {
  return [...namespaces.get(namespace)!.keys()].map((name) => `${namespace}.${name}`).join(", ");
}

/** The scope holds milliseconds, and the text is made only where it is read. */
function now(position: number): Run {
  return (frame) => {
    const at = Object.hasOwn(frame.scope, "$now") ? frame.scope.$now : undefined;
    if (typeof at !== "number") return at;
    const moment = new Date(at);
    return Number.isNaN(moment.getTime()) ? fail(frame, position, "$now is not a moment") : moment.toISOString();
  };
}
