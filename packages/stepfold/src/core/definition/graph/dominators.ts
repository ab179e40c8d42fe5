import type { WorkBudget } from "../../values/work-budget.ts";

/** Stands for "none": the node has no dominator, or has no place in the order because no start leads to it. */
const none = -1;

/**
 * Returns the immediate dominator of every node: the last other node that every way from a start to the node passes. It is -1 for the
 * starts, for nodes that no way leads to, and for nodes whose ways from different starts have no node in common.
 *
 * Algorithm: Cooper, Harvey, Kennedy, A Simple, Fast Dominance Algorithm (2001), with an artificial root before all starts.
 *
 * @param out for each node, the indices of its targets
 * @param starts indices of the first nodes
 * @returns null if the budget is spent: a graph with many loops into each other needs one round for each of them
 */
export function dominators(out: readonly (readonly number[])[], starts: readonly number[], work: WorkBudget): number[] | null {
  const root = out.length;
  const targets = [...out, starts];
  const order = postOrder(targets, root);
  const place = new Int32Array(targets.length).fill(none);
  for (const [i, node] of order.entries()) place[node] = i;
  const sources: number[][] = targets.map(() => []);
  for (const node of order) for (const target of targets[node]!) sources[target]!.push(node);

  const dominator = new Int32Array(targets.length).fill(none);
  dominator[root] = root;
  for (let changed = true; changed; ) {
    changed = false;
    for (let i = order.length - 2; i >= 0; i--) {
      const node = order[i]!;
      let common = none;
      for (const source of sources[node]!) {
        if (dominator[source] === none) continue;
        common = common === none ? source : meet(dominator, place, source, common, work);
      }
      if (!work.spend(1 + sources[node]!.length)) return null;
      if (common === dominator[node]) continue;
      dominator[node] = common;
      changed = true;
    }
  }
  return Array.from(dominator.subarray(0, root), (found) => (found === root ? none : found));
}

/** Returns the nearest node that dominates both nodes. */
function meet(dominator: Int32Array, place: Int32Array, one: number, other: number, work: WorkBudget): number {
  let a = one;
  let b = other;
  while (a !== b) {
    work.spend(1);
    while (place[a]! < place[b]!) a = dominator[a]!;
    while (place[b]! < place[a]!) b = dominator[b]!;
  }
  return a;
}

/**
 * Returns the nodes that can be reached from the root, each after the nodes that it leads to (except along edges that lead back in a
 * loop). The function is not recursive, because a graph may be as deep as it has nodes: 5,000 by default, too many for the call stack.
 */
function postOrder(targets: readonly (readonly number[])[], root: number): number[] {
  const order: number[] = [];
  const seen = new Uint8Array(targets.length);
  const stack = [{ node: root, next: 0 }];
  seen[root] = 1;
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    const target = targets[top.node]![top.next++];
    if (target === undefined) {
      order.push(top.node);
      stack.pop();
    } else if (!seen[target]) {
      seen[target] = 1;
      stack.push({ node: target, next: 0 });
    }
  }
  return order;
}
