import type { WorkBudget } from "../../values/work-budget.ts";
import type { CompiledEdge, CompiledJoin, CompiledNode, JoinEdge } from "../compiled.ts";
import { dominators } from "../graph/dominators.ts";
import { addNode, addNodes, type NodeSet, nodeSet } from "../graph/node-set.ts";

/** A node whose `join` and `wave` are not set yet. */
export type OpenNode = { -readonly [K in "join" | "wave"]: CompiledNode[K] } & Omit<CompiledNode, "join" | "wave">;

/** An edge, with the index of its source node. */
export interface PlacedEdge {
  readonly source: number;
  readonly edge: CompiledEdge;
}

/**
 * Finds the fork of every join and the nodes from which each edge of the join can be reached. It sets `join` of the nodes that merge paths
 * and `wave` of the forks (docs/path-semantics.md, "Waves" and "Pending paths"). A workflow without joins costs nothing.
 *
 * @param nodes in the order of the definition; `edges` too
 * @param starts ids of the first nodes, and of the node of `finally`
 * @returns null if the work is more than the budget allows
 */
export function compileJoins(
  nodes: readonly OpenNode[],
  edges: readonly PlacedEdge[],
  starts: readonly string[],
  work: WorkBudget,
): CompiledJoin[] | null {
  if (!nodes.some(({ node }) => isJoin(node.join))) return [];
  const incoming: PlacedEdge[][] = nodes.map(() => []);
  const out: number[][] = nodes.map(() => []);
  for (const placed of edges) {
    incoming[placed.edge.target.index]!.push(placed);
    out[placed.source]!.push(placed.edge.target.index);
  }
  const first = new Set(starts);
  const startIndices = nodes.filter(({ node }) => first.has(node.id)).map(({ index }) => index);
  const dominator = dominators(out, startIndices, work);
  if (!dominator) return null;
  const joins: CompiledJoin[] = [];
  for (const node of nodes) {
    if (!isJoin(node.node.join)) continue;
    const join = compileJoin(node, nodes, incoming, dominator[node.index]!, work);
    if (!join) return null;
    joins.push(join);
  }
  for (const join of joins) if (join.fork) reachable(join, join.fork, nodes.length);
  return joins;
}

function compileJoin(
  node: OpenNode,
  nodes: readonly OpenNode[],
  incoming: readonly PlacedEdge[][],
  dominator: number,
  work: WorkBudget,
): CompiledJoin | null {
  const { join: count, late = "ignore" } = node.node;
  const entering = incoming[node.index]!;
  const threads = typeof count === "number" && count > entering.length;
  const fork = threads || dominator < 0 ? null : nodes[dominator]!;
  // all edges from one source have the same reach, so it is computed once
  const reaches = new Map<number, NodeSet>();
  for (const { source } of entering) {
    if (reaches.has(source)) continue;
    const reach = reachOf(source, node.index, fork ? fork.index : -1, incoming, work);
    if (!reach) return null;
    reaches.set(source, reach);
  }
  const edges = entering.map(({ source, edge }): JoinEdge => ({ via: edge.via, reach: reaches.get(source)! }));
  const join: CompiledJoin = { node, count: count as number | "all", threads, late, fork, edges };
  node.join = join;
  return join;
}

/**
 * Finds the nodes that can reach an edge. The search goes backwards from the source of the edge, not beyond the join and not into its fork.
 */
function reachOf(source: number, join: number, fork: number, incoming: readonly PlacedEdge[][], work: WorkBudget): NodeSet | null {
  const reach = nodeSet(incoming.length);
  const queue: number[] = [];
  const visit = (index: number): void => {
    if (index !== fork && addNode(reach, index) && index !== join) queue.push(index);
  };
  visit(source);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (!work.spend(1 + incoming[next]!.length)) return null;
    for (const { source: before } of incoming[next]!) visit(before);
  }
  return work.spend(reach.length) ? reach : null;
}

/** Adds a join, and the nodes that can reach it, to the wave of its fork. */
function reachable({ node, edges }: CompiledJoin, fork: OpenNode, size: number): void {
  fork.wave ??= nodeSet(size);
  addNode(fork.wave, node.index);
  for (const { reach } of edges) addNodes(fork.wave, reach);
}

function isJoin(join: CompiledNode["node"]["join"]): boolean {
  return join !== undefined && join !== "each";
}
