/** A workflow as the reference model sees it: only what docs/path-semantics.md speaks of. */
export interface ModelDefinition {
  readonly id: string;
  readonly start?: string;
  readonly nodes: readonly ModelNode[];
  readonly edges: readonly ModelEdge[];
  readonly workflows?: Readonly<Record<string, ModelDefinition>>;
  /** `"stop"` (default): a failure ends the other paths; `"finish"`: they run on first. */
  readonly onFailure?: "stop" | "finish";
}

/** A step of the graph. */
export interface ModelNode {
  readonly id: string;
  /** `"map"` starts one child per item, `"workflow"` one child; every other type is told apart by schedules only. */
  readonly type: string;
  readonly join?: "each" | "all" | number;
  readonly late?: "ignore" | "cancel" | "block";
  readonly cancels?: readonly string[];
  readonly mutex?: string;
  readonly when?: ModelWhen;
  readonly compensate?: boolean;
  /** For schedules: the model itself is told whether a failed attempt is made again. */
  readonly maxAttempts?: number;
  readonly children?: ModelChildren;
}

/** A milestone as data: a path stands at `at` (and is not joining), or `done` has completed at least `times` times. */
export type ModelWhen = { readonly at: string } | { readonly done: string; readonly times: number };

/** What a node starts when it spawns. */
export interface ModelChildren {
  /** Name of a definition in `workflows`, here or in an enclosing definition. */
  readonly workflow: string;
  readonly items: number;
  readonly concurrency?: number;
  /** The map completes once so many items have. */
  readonly completeWhen?: number;
  /** What then happens to the other items. Default `"cancel"`. */
  readonly remaining?: "cancel" | "finish";
}

/** A connection; without `sourceHandle` it leaves the default port, which events name `""`. */
export interface ModelEdge {
  readonly id?: string;
  readonly source: string;
  readonly target: string;
  readonly sourceHandle?: string;
}

/** The node of that id. */
export function nodeOf(definition: ModelDefinition, id: string): ModelNode {
  const node = definition.nodes.find((candidate) => candidate.id === id);
  if (!node) throw new RangeError(`no node ${id} in ${definition.id}`);
  return node;
}

/** The first node: the one named, else the one that no other node has an edge to, else the first listed. */
export function startOf(definition: ModelDefinition): string {
  if (definition.start !== undefined) return definition.start;
  const isTarget = (id: string) => definition.edges.some((edge) => edge.target === id && edge.source !== id);
  const first = definition.nodes.find((node) => !isTarget(node.id)) ?? definition.nodes[0];
  if (!first) throw new RangeError(`${definition.id} has no node`);
  return first.id;
}

/** Numbers (places in `edges`) of the edges that enter a node. */
export function edgesInto(definition: ModelDefinition, nodeId: string): number[] {
  return definition.edges.flatMap((edge, index) => (edge.target === nodeId ? [index] : []));
}

/** Numbers of the edges that leave a node by a handle, `""` being the default one. */
export function edgesFrom(definition: ModelDefinition, nodeId: string, handle: string): number[] {
  return definition.edges.flatMap((edge, index) => (edge.source === nodeId && (edge.sourceHandle ?? "") === handle ? [index] : []));
}

/** How snapshots call an edge: its id, else `source>target@handle`. */
export function edgeName(definition: ModelDefinition, index: number): string {
  const edge = edgeAt(definition, index);
  return edge.id ?? `${edge.source}>${edge.target}${edge.sourceHandle === undefined ? "" : `@${edge.sourceHandle}`}`;
}

/** The edge of that number. */
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
