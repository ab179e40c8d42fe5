import { charge, type Frame, fail, grow, type Run } from "../evaluation/frame.ts";
import { kindOf, readComputed, readMember } from "../evaluation/read-member.ts";
import { constants, namespaces } from "../functions/functions.ts";
import type { Expression, Member } from "../syntax/syntax.ts";
import { listOf } from "./compile-name.ts";
import { type Compiler, constant, constantOf, reject, SKIP, textOf } from "./compiler.ts";
import { NodesView } from "./nodes-view.ts";

/** Compiles `a.b`, `a["b"]`, `a[b]` and their optional forms. */
export function compileMember(compiler: Compiler, node: Member): Run {
  const { object, key, at } = node;
  if (object.kind === "name" && !compiler.locals.has(object.name)) {
    if (object.name === "nodes") return wholeNode(compiler, node);
    if (namespaces.has(object.name)) return namespaceConstant(compiler, object.name, key, at);
  }
  if (isNode(compiler, object) && (key === "last" || key === "all")) return nodeResults(compiler, object, key);
  const owner = compiler.compile(compiler, object);
  const named = textOf(compiler, object);
  const nothing = node.optional ? skip : missing(named, typeof key === "string" ? `"${key}"` : "a member", at);
  if (typeof key === "string") {
    return (frame) => {
      const value = owner(frame);
      if (value === undefined || value === null || value === SKIP) return nothing(frame, value);
      return readMember(frame, value, key, at);
    };
  }
  const computed = compiler.compile(compiler, key);
  return (frame) => {
    const value = owner(frame);
    if (value === undefined || value === null || value === SKIP) return nothing(frame, value);
    return readComputed(frame, value, computed(frame), at);
  };
}

/** What `?.` gives. */
const skip = (): unknown => SKIP;

/** What reading a member of nothing gives: within a chain that was cut short nothing again, else an error. */
export function missing(owner: string, wanted: string, position: number): (frame: Frame, value: unknown) => unknown {
  return (frame, value) => {
    if (value === SKIP) return SKIP;
    return fail(frame, position, `cannot read ${wanted}: ${owner} is ${kindOf(value)}; write ?. where it may be missing`);
  };
}

/** Ends a chain. */
export function compileChain(compiler: Compiler, expression: Expression): Run {
  const run = compiler.compile(compiler, expression);
  return (frame) => {
    const value = run(frame);
    return value === SKIP ? undefined : value;
  };
}

function namespaceConstant(compiler: Compiler, namespace: string, key: string | Expression, position: number): Run {
  const value = typeof key === "string" ? constants.get(namespace)?.get(key) : undefined;
  if (value === undefined) reject(compiler, position, `${namespace} has no such value. It has the functions ${listOf(namespace)}`);
  return constant(value);
}

/** Whether this is `nodes.x`: the compiler reads results straight from the snapshot, without making objects on the way. */
function isNode(compiler: Compiler, node: Expression): node is Member {
  return node.kind === "member" && node.object.kind === "name" && node.object.name === "nodes" && !compiler.locals.has("nodes");
}

function nodeResults(compiler: Compiler, node: Member, key: "last" | "all"): Run {
  const id = nodeId(compiler, node);
  const read = key === "last" ? last : all;
  const known = constantOf(id)?.value;
  return typeof known === "string" ? (frame) => read(frame, known, node.at) : (frame) => read(frame, id(frame), node.at);
}

/** `nodes.x` on its own. A node without results is an empty one, so that `nodes.x.last?.data` asks for nothing else. */
function wholeNode(compiler: Compiler, node: Member): Run {
  const id = nodeId(compiler, node);
  return (frame) => {
    const key = id(frame);
    return { last: last(frame, key, node.at), all: all(frame, key, node.at) };
  };
}

function nodeId(compiler: Compiler, { key }: Member): Run {
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
    : fail(frame, position, `a node id must be a text, not ${kindOf(id)}`);
}

/** A scope written by hand holds `nodes` as plain data. */
function ofPlain(frame: Frame, nodes: unknown, id: unknown, key: string, position: number): unknown {
  const node = nodes === undefined || nodes === null ? undefined : readComputed(frame, nodes, id, position);
  return node === undefined || node === null ? undefined : readMember(frame, node, key, position);
}
