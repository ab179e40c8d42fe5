/** A workflow as the reference model sees it, with only the features that docs/path-semantics.md describes. */
export interface ModelDefinition {
  readonly id: string;
  readonly start?: string;
  readonly nodes: readonly ModelNode[];
  readonly edges: readonly ModelEdge[];
  readonly workflows?: Readonly<Record<string, ModelDefinition>>;
  /** `"stop"` (default): a failure ends the other paths at once. `"finish"`: the scope fails only after they have ended. */
  readonly onFailure?: "stop" | "finish";
}

/** A step of the graph. */
export interface ModelNode {
  readonly id: string;
  /** `"map"` starts one child per item, `"workflow"` one child. The model treats all other types alike; only schedules know them. */
  readonly type: string;
  /** `"each"` (default): no join. `"all"`: a join of all branches. A number: a join of so many branches. */
  readonly join?: "each" | "all" | number;
  /** What happens to the other branches of a join of a number ("Late branches"). */
  readonly late?: "ignore" | "cancel" | "block";
  /** The nodes at which other paths end when this node completes. */
  readonly cancels?: readonly string[];
  /** The name of the mutex that a path must have at this node. */
  readonly mutex?: string;
  /** The milestone that must hold before a path at this node becomes ready. */
  readonly when?: ModelWhen;
  /** True: the node has a compensation. */
  readonly compensate?: boolean;
  /** The largest number of attempts. Only schedules read it; the event `failed` tells the model whether there is a retry. */
  readonly maxAttempts?: number;
  readonly children?: ModelChildren;
}

/** A milestone as data: a path is at the node `at` (and is not joining), or the node `done` has completed at least `times` times. */
export type ModelWhen = { readonly at: string } | { readonly done: string; readonly times: number };

/** The children that a node starts. */
export interface ModelChildren {
  /** The name of a definition in `workflows` of this definition or of an enclosing one. */
  readonly workflow: string;
  readonly items: number;
  /** The most items that run at once. Default: no limit. */
  readonly concurrency?: number;
  /** The number of completed items at which the map completes. */
  readonly completeWhen?: number;
  /** What happens to the other items when the map completes early. Default `"cancel"`. */
  readonly remaining?: "cancel" | "finish";
}

/** A connection. Without `sourceHandle` it leaves by the default handle, which events name `""`. */
export interface ModelEdge {
  readonly id?: string;
  readonly source: string;
  readonly target: string;
  readonly sourceHandle?: string;
}

/** The node with this id. */
export function nodeOf(definition: ModelDefinition, id: string): ModelNode {
  const node = definition.nodes.find((candidate) => candidate.id === id);
  if (!node) throw new RangeError(`no node ${id} in ${definition.id}`);
  return node;
}

/** The id of the first node: `start`, else the first node without an edge from another node, else the first of `nodes`. */
export function startOf(definition: ModelDefinition): string {
  if (definition.start !== undefined) return definition.start;
  const isTarget = (id: string) => definition.edges.some((edge) => edge.target === id && edge.source !== id);
  const first = definition.nodes.find((node) => !isTarget(node.id)) ?? definition.nodes[0];
  if (!first) throw new RangeError(`${definition.id} has no node`);
  return first.id;
}

/** The numbers of the edges that enter a node. The number of an edge is its index in `edges`. */
export function edgesInto(definition: ModelDefinition, nodeId: string): number[] {
  return definition.edges.flatMap((edge, index) => (edge.target === nodeId ? [index] : []));
}

/** The numbers of the edges that leave a node by a handle; `""` is the default handle. */
export function edgesFrom(definition: ModelDefinition, nodeId: string, handle: string): number[] {
  return definition.edges.flatMap((edge, index) => (edge.source === nodeId && (edge.sourceHandle ?? "") === handle ? [index] : []));
}

/** The name of an edge in snapshots: its id, else `source>target@handle`. */
export function edgeName(definition: ModelDefinition, index: number): string {
  const edge = edgeAt(definition, index);
  return edge.id ?? `${edge.source}>${edge.target}${edge.sourceHandle === undefined ? "" : `@${edge.sourceHandle}`}`;
}

/** The edge with this number. */
export function edgeAt(definition: ModelDefinition, index: number): ModelEdge {
  const edge = definition.edges[index];
  if (!edge) throw new RangeError(`no edge ${index} in ${definition.id}`);
  return edge;
}

/** Whether arrivals wait at this node. */
export function isJoin(node: ModelNode): boolean {
  return node.join === "all" || typeof node.join === "number";
}

/** Whether the node asks for more arrivals than it has incoming edges. */
export function isThreadMerge(definition: ModelDefinition, node: ModelNode): boolean {
  return typeof node.join === "number" && node.join > edgesInto(definition, node.id).length;
}
