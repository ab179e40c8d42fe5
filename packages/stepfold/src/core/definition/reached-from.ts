import type { CompiledNode } from "./compiled.ts";

/** The ids of these nodes, and of all that their edges lead to. */
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

/** Whether a path that leaves a node can come to it again. */
export function isInCycle({ node, edges }: CompiledNode): boolean {
  const next = [...edges.values()].flatMap((leaving) => leaving.map(({ target }) => target));
  return reachedFrom(next).has(node.id);
}
