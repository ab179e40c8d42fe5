import type { CompiledNode, CompiledWorkflow } from "stepfold";

/** Tells whether a path can come to a node again; remembers what it has found out. An unknown workflow may do anything. */
export function cycles(): (workflow: CompiledWorkflow | null, nodeId: string) => boolean {
  const known = new Map<CompiledNode, boolean>();
  return (workflow, nodeId) => {
    const node = workflow?.nodes.get(nodeId);
    if (!node) return true;
    let found = known.get(node);
    if (found === undefined) {
      found = reachesItself(node);
      known.set(node, found);
    }
    return found;
  };
}

function reachesItself(node: CompiledNode): boolean {
  const reached = new Set<CompiledNode>();
  const next = [node];
  for (let from = next.pop(); from !== undefined; from = next.pop()) {
    for (const edges of from.edges.values()) {
      for (const { target } of edges) {
        if (target === node) return true;
        if (reached.has(target)) continue;
        reached.add(target);
        next.push(target);
      }
    }
  }
  return false;
}
