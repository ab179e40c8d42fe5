import type { CompiledNode } from "./compiled.ts";

/** Returns the ids of these nodes and of all nodes that can be reached from them. */
export function reachedFrom(first: readonly CompiledNode[]): Set<string> {
  const reached = new Set<string>();
  const queue = [...first];
  for (const { node, edges } of queue) {
    if (reached.has(node.id)) continue;
    reached.add(node.id);
    for (const leaving of edges.values()) for (const { target } of leaving) queue.push(target);
  }
  return reached;
}

/** True if a path that leaves the node can arrive at it again. */
export function isInCycle({ node, edges }: CompiledNode): boolean {
  const next = [...edges.values()].flatMap((leaving) => leaving.map(({ target }) => target));
  return reachedFrom(next).has(node.id);
}
