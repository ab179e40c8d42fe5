import { edgeAt, edgesInto, isJoin, isThreadMerge, type ModelDefinition, nodeOf, startOf } from "./model-definition.fixture.ts";

/** The nodes that can be reached from `from` (which is one of them) without entering a node of `avoiding`. */
function reachable(definition: ModelDefinition, from: string, avoiding: readonly string[]): string[] {
  const found = [from];
  for (const node of found) {
    for (const edge of definition.edges) {
      if (edge.source === node && !avoiding.includes(edge.target) && !found.includes(edge.target)) found.push(edge.target);
    }
  }
  return found;
}

/** Whether every path from the start to `node` passes `dominator`. */
function dominates(definition: ModelDefinition, dominator: string, node: string): boolean {
  const start = startOf(definition);
  return start === dominator || !reachable(definition, start, [dominator]).includes(node);
}

/**
 * The fork of a join, which is its immediate dominator ("Waves"). Null if there is none.
 *
 * The start has no fork, nor has a node that cannot be reached from the start. A thread merge has none because all its arrivals belong to
 * one wave.
 */
function forkOf(definition: ModelDefinition, join: string): string | null {
  const known = forks.get(definition) ?? new Map<string, string | null>();
  forks.set(definition, known);
  const fork = known.has(join) ? known.get(join)! : findFork(definition, join);
  known.set(join, fork);
  return fork;
}

/** The forks that were found, by definition and join. Definitions never change. */
const forks = new WeakMap<ModelDefinition, Map<string, string | null>>();

function findFork(definition: ModelDefinition, join: string): string | null {
  const start = startOf(definition);
  if (join === start || !reachable(definition, start, []).includes(join)) return null;
  if (isThreadMerge(definition, nodeOf(definition, join))) return null;
  const strict = definition.nodes.map((node) => node.id).filter((id) => id !== join && dominates(definition, id, join));
  return strict.find((id) => strict.every((other) => other === id || dominates(definition, other, id))) ?? null;
}

/** The joins whose fork is this node. */
export function joinsOfFork(definition: ModelDefinition, fork: string): string[] {
  return definition.nodes.filter((node) => isJoin(node) && forkOf(definition, node.id) === fork).map((node) => node.id);
}

/** True if a path at `node` is at a join of `fork`, or can reach one without passing the fork ("Waves"). */
export function reachesJoinOfFork(definition: ModelDefinition, node: string, fork: string): boolean {
  if (node === fork) return false;
  const found = reachable(definition, node, [fork]);
  return joinsOfFork(definition, fork).some((join) => found.includes(join));
}

/** True if a path at `node` that does not wait at `join` can still take one of these edges into `join` ("Pending paths"). */
export function reachesEdge(definition: ModelDefinition, node: string, join: string, edges: readonly number[]): boolean {
  const fork = forkOf(definition, join);
  if (node === fork) return false;
  const found = reachable(definition, node, fork === null ? [join] : [join, fork]);
  return edges.some((edge) => found.includes(edgeAt(definition, edge).source));
}

/** The incoming edges of a join that are not among these. */
export function otherEdges(definition: ModelDefinition, join: string, edges: readonly number[]): number[] {
  return edgesInto(definition, join).filter((edge) => !edges.includes(edge));
}

/** The wave of a path, as a join sees it ("Waves"). */
export function waveAt(definition: ModelDefinition, join: string, path: { readonly waves: Readonly<Record<string, string>> }): string {
  const fork = forkOf(definition, join);
  return fork === null ? "" : (path.waves[fork] ?? "");
}
