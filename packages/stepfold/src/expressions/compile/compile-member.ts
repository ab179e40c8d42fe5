import { charge, type Evaluate, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { isPlain, kindOf, readComputed, readMember } from "../evaluation/read-member.ts";
import { extraAlone, extraNamespaces } from "../functions/extra-functions.ts";
import { constants, functions, namespaces } from "../functions/functions.ts";
import type { Expression, Member, Name, Required } from "../syntax/syntax.ts";
import { type Compiler, constant, constantOf, reject, skipped, sourceText } from "./compiler.ts";
import { didYouMean } from "./nearest.ts";
import { NodesView } from "./scope.ts";

/** Compiles `a.b`, `a["b"]`, `a[b]` and their optional forms. */
export function compileMember(compiler: Compiler, node: Member): Evaluate {
  const { object, key, at } = node;
  if (object.kind === "name" && !compiler.locals.has(object.name)) {
    if (object.name === "nodes") return wholeNode(compiler, node);
    if (isNamespace(object.name)) return namespaceConstant(compiler, object.name, key, at);
  }
  if (isNode(compiler, object) && (key === "last" || key === "all")) return nodeResults(compiler, object, key);
  const owner = compiler.compile(compiler, object);
  const named = sourceText(compiler, object);
  const nothing = node.optional ? skip : missing(named, typeof key === "string" ? `"${key}"` : "a member", at);
  if (typeof key === "string") {
    return (frame) => {
      const value = owner(frame);
      if (value === undefined || value === null || value === skipped) return nothing(frame, value);
      return readMember(frame, value, key, at);
    };
  }
  const computed = compiler.compile(compiler, key);
  return (frame) => {
    const value = owner(frame);
    if (value === undefined || value === null || value === skipped) return nothing(frame, value);
    return readComputed(frame, value, computed(frame), at);
  };
}

/** The result of `?.` on null or undefined: the rest of the chain is skipped. */
const skip = (): unknown => skipped;

/**
 * Returns what to do when a member of null or undefined is read or called. If a `?.` before it
 * has cut the chain short, the result is `skipped`; else the evaluation fails.
 */
export function missing(owner: string, wanted: string, position: number): (frame: Frame, value: unknown) => unknown {
  return (frame, value) => {
    if (value === skipped) return skipped;
    return failEvaluation(frame, position, `cannot read ${wanted}: ${owner} is ${kindOf(value)}; write ?. where it may be missing`);
  };
}

/** Compiles a chain. Its value is undefined if a `?.` has cut the chain short. */
export function compileChain(compiler: Compiler, expression: Expression): Evaluate {
  const run = compiler.compile(compiler, expression);
  return (frame) => {
    const value = run(frame);
    return value === skipped ? undefined : value;
  };
}

/** Compiles `a!`: the evaluation fails if `a` is null or undefined. */
export function compileRequired(compiler: Compiler, { operand, start }: Required): Evaluate {
  const run = compiler.compile(compiler, operand);
  const named = sourceText(compiler, operand);
  return (frame) => {
    const value = run(frame);
    if (value !== undefined && value !== null && value !== skipped) return value;
    return failEvaluation(
      frame,
      start,
      `${named} is ${value === null ? "null" : "missing"}, and the ! after it says that it must be there`,
    );
  };
}

function namespaceConstant(compiler: Compiler, namespace: string, key: string | Expression, position: number): Evaluate {
  const value = typeof key === "string" ? constants.get(namespace)?.get(key) : undefined;
  if (value === undefined) reject(compiler, position, `${namespace} has no such value. It has the functions ${functionNames(namespace)}`);
  return constant(value);
}

/** True for `nodes.x`. Its results are read directly from the snapshot, without building objects for `nodes` and `nodes.x`. */
function isNode(compiler: Compiler, node: Expression): node is Member {
  return node.kind === "member" && node.object.kind === "name" && node.object.name === "nodes" && !compiler.locals.has("nodes");
}

function nodeResults(compiler: Compiler, node: Member, key: "last" | "all"): Evaluate {
  const id = nodeId(compiler, node);
  const read = key === "last" ? last : all;
  const known = constantOf(id)?.value;
  return typeof known === "string" ? (frame) => read(frame, known, node.at) : (frame) => read(frame, id(frame), node.at);
}

/** Compiles `nodes.x` alone. A node without results gives an object without a last result, so `?.` is needed only after `last`. */
function wholeNode(compiler: Compiler, node: Member): Evaluate {
  const id = nodeId(compiler, node);
  return (frame) => {
    const key = id(frame);
    return { last: last(frame, key, node.at), all: all(frame, key, node.at) };
  };
}

function nodeId(compiler: Compiler, { key }: Member): Evaluate {
  return typeof key === "string" ? constant(key) : compiler.compile(compiler, key);
}

function last(frame: Frame, id: unknown, position: number): unknown {
  const nodes = nodesOf(frame);
  if (NodesView.is(nodes)) return nodes.last(textId(frame, id, position));
  return ofPlain(frame, nodes, id, "last", position);
}

function all(frame: Frame, id: unknown, position: number): unknown {
  const nodes = nodesOf(frame);
  if (!NodesView.is(nodes)) return ofPlain(frame, nodes, id, "all", position) ?? [];
  const key = textId(frame, id, position);
  const count = nodes.count(key);
  charge(frame, count);
  grow(frame, 8 * count);
  return nodes.all(key);
}

function nodesOf(frame: Frame): unknown {
  return Object.hasOwn(frame.scope, "nodes") ? frame.scope.nodes : undefined;
}

function textId(frame: Frame, id: unknown, position: number): string {
  return typeof id === "string" || typeof id === "number"
    ? String(id)
    : failEvaluation(frame, position, `a node id must be a text, not ${kindOf(id)}`);
}

/** Reads results from a scope that a caller wrote by hand: there `nodes` is plain data. */
function ofPlain(frame: Frame, nodes: unknown, id: unknown, key: string, position: number): unknown {
  const node = nodes === undefined || nodes === null ? undefined : readComputed(frame, nodes, id, position);
  return node === undefined || node === null ? undefined : readMember(frame, node, key, position);
}

/** Every name that an expression may read from a scope. (`seed` of a scope is not among them: only functions of random values use it.) */
export const roots: readonly string[] = [
  "nodes",
  "input",
  "inputs",
  "globals",
  "metadata",
  "vars",
  "item",
  "$json",
  "$now",
  "index",
  "execution",
  "error",
  "attempt",
  "paths",
  "results",
  "total",
  "done",
  "failed",
  "current",
  "value",
];

/** Names that the parser replaces, together with what follows them, by other syntax. They are listed here for error messages. */
const rootAliases = ["$input", "$", "$node", "$items", "$execution", "$workflow", "$itemIndex", "$today", "$vars"];

/** Names of n8n that do not exist here, with the alternative for the error message. */
const absentNames: ReadonlyMap<string, string> = new Map([
  ["$env", "a workflow cannot read the environment; pass what it may read as globals"],
  ["$secrets", "pass what the workflow may read as globals"],
  ["$binary", "there is no binary data; keep files elsewhere, and their addresses here"],
  ["$jmespath", "use map, filter and find"],
  ["$runIndex", "read nodes.ID.all.length"],
]);

/** Compiles a name that stands for a value. */
export function compileName(compiler: Compiler, { name, start }: Name): Evaluate {
  const slot = compiler.locals.get(name);
  if (slot !== undefined) return (frame) => frame.locals[slot];
  if (name === "nodes") reject(compiler, start, "nodes cannot be read as a whole: name a node, as in nodes.charge.last.data");
  if (functions.has(name) || extraAlone.has(name)) reject(compiler, start, `${name} is a function: call it, as in ${name}(input)`);
  if (isNamespace(name)) reject(compiler, start, `${name} is no value: call one of its functions, ${functionNames(name)}`);
  if (!roots.includes(name)) unknown(compiler, name, start);
  if (name === "globals") compiler.needsCopy = true;
  if (name === "$now") return now(start);
  if (name === "execution") return execution;
  return (frame) => (Object.hasOwn(frame.scope, name) ? frame.scope[name] : undefined);
}

/** Refuses the expression because of an unknown name. */
export function unknown(compiler: Compiler, name: string, position: number): never {
  const known = [
    ...new Set([
      ...compiler.locals.keys(),
      ...roots,
      ...rootAliases,
      ...functions.keys(),
      ...extraAlone,
      ...namespaces.keys(),
      ...extraNamespaces.keys(),
    ]),
  ];
  const hint = absentNames.get(name);
  const close = known.filter((other) => other.startsWith("$") === name.startsWith("$"));
  if (hint !== undefined) reject(compiler, position, `"${name}" is not available in expressions: ${hint}`);
  reject(compiler, position, `"${name}" is not known here.${didYouMean(name, close) || ` Known: ${known.join(", ")}`}`);
}

/** True for a name that functions belong to, such as `Math`. */
export function isNamespace(name: string): boolean {
  return namespaces.has(name) || extraNamespaces.has(name);
}

/** The functions of a namespace, for messages. Extra functions are listed only for a namespace that has no others. */
export function functionNames(namespace: string): string {
  return [...(namespaces.get(namespace)?.keys() ?? extraNamespaces.get(namespace)!)].map((name) => `${namespace}.${name}`).join(", ");
}

/** Reads `execution`. The scope holds `startedAt` in milliseconds; the expression gets it as ISO text. */
const execution: Evaluate = ({ scope }) => {
  const facts = Object.hasOwn(scope, "execution") ? scope.execution : undefined;
  if (!isPlain(facts) || typeof facts.startedAt !== "number") return facts;
  return { ...facts, startedAt: new Date(facts.startedAt).toISOString() };
};

/** Compiles `$now`. The scope holds milliseconds; the ISO text is made only when an expression reads it. */
function now(position: number): Evaluate {
  return (frame) => {
    const at = Object.hasOwn(frame.scope, "$now") ? frame.scope.$now : undefined;
    if (typeof at !== "number") return at;
    const moment = new Date(at);
    return Number.isNaN(moment.getTime()) ? failEvaluation(frame, position, "$now is not a moment") : moment.toISOString();
  };
}
