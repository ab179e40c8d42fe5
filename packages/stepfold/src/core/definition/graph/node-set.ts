/** A set of nodes by their index: one bit each. */
export type NodeSet = Uint32Array;

/** Returns an empty set with room for `size` nodes. */
export function nodeSet(size: number): NodeSet {
  return new Uint32Array((size + 31) >> 5);
}

/** True if the set has the node. */
export function hasNode(set: NodeSet, index: number): boolean {
  return ((set[index >> 5]! >>> (index & 31)) & 1) === 1;
}

/** Adds a node. Returns false if the set has it already. */
export function addNode(set: NodeSet, index: number): boolean {
  if (hasNode(set, index)) return false;
  set[index >> 5]! |= 1 << (index & 31);
  return true;
}

/** Adds all nodes of another set of the same size. */
export function addNodes(set: NodeSet, other: NodeSet): void {
  for (let i = 0; i < other.length; i++) set[i]! |= other[i]!;
}
