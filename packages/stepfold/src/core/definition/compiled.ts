import type { Issue } from "../errors/issue.ts";
import type { Json } from "../values/json.ts";
import type { Limits } from "../values/limits.ts";
import type { CompiledPolicy, Computed } from "./compiled-policy.ts";
import type { Node, WorkflowDefinition } from "./definition.ts";
import type { NodeSet } from "./graph/node-set.ts";
import type { ExpressionLanguage, Template } from "./template.ts";

/** A workflow made ready to run: checked, indexed, its expressions compiled. Make one with `compile`. */
export interface CompiledWorkflow {
  /** Frozen. */
  readonly definition: WorkflowDefinition;
  /** Identity of the definition: SHA-256 of what the engine acts on. */
  readonly hash: string;
  readonly nodes: ReadonlyMap<string, CompiledNode>;
  /** Ids of the nodes that an execution may begin at. If there is exactly one, it begins there; else the start has to name one. */
  readonly starts: readonly string[];
  /** The node at which the end of every execution begins; null if there is none. */
  readonly finally: CompiledNode | null;
  /** The template of the execution's output; null if the output is the last result. */
  readonly output: Template | null;
  /** The variables that it declares. */
  readonly variables: ReadonlyMap<string, CompiledVariable>;
  /** Longest time that one run of it may take; null: any. */
  readonly timeoutMs: Computed | null;
  /** The concurrency key and limit of its executions; null if there is none. */
  readonly concurrency: { readonly key: Template; readonly limit: number } | null;
  /** How fast executions of one key may begin; null if there is no limit. Key null: that is the id of the workflow. */
  readonly rateLimit: { readonly key: Template | null; readonly limit: number; readonly periodMs: number } | null;
  /** Nodes where paths are merged, in the order of `nodes`. */
  readonly joins: readonly CompiledJoin[];
  /** Whether a node may hold paths back before they run: one that has a `mutex` or a `when`. */
  readonly holds: boolean;
  /** Whether a node of it, or of a workflow that it may run, has a `compensate`. */
  readonly compensates: boolean;
  /**
   * The workflows that its nodes may run, by name: those that it brings in its `workflows`, those that the workflow around it
   * brings, and, for recursion, this workflow and the one around it.
   */
  readonly workflows: WorkflowNames;
  readonly warnings: readonly Issue[];
  readonly language: ExpressionLanguage;
  readonly limits: Limits;
}

/** A declared variable. */
export interface CompiledVariable {
  readonly initial: Json | undefined;
  readonly reducer: Reducer | Template;
}

/** The reducers that have a name. */
export type Reducer = "set" | "add" | "append" | "merge" | "max";

/** Workflows by name. */
export interface WorkflowNames {
  get(name: string): CompiledWorkflow | undefined;
  keys(): Iterable<string>;
  values(): Iterable<CompiledWorkflow>;
}

/** A node with its outgoing edges. */
export interface CompiledNode {
  readonly node: Node;
  /** Its position in the order of `nodes`. */
  readonly index: number;
  /** Edges by handle, in the order of `edges`; `""` is the default handle. */
  readonly edges: ReadonlyMap<string, readonly CompiledEdge[]>;
  /** The template of its data; null if the data holds no expression. */
  readonly data: Template | null;
  /** Its data as they are written: used if they hold no expression. */
  readonly constant: Json;
  readonly retryPolicy: CompiledPolicy | null;
  readonly timeoutMs: Computed | null;
  /** Longest time without a heartbeat. */
  readonly heartbeatMs: Computed | null;
  /** Edges of the default handle. */
  readonly next: readonly CompiledEdge[];
  /** How paths are merged here; null if each path goes through by itself. */
  readonly join: CompiledJoin | null;
  /**
   * Set at a fork whose branches meet in a join. Each visit of the fork begins a wave: the paths that come from that visit. These
   * are the nodes at which a path still belongs to its wave: it can reach one of the joins without passing the fork again.
   */
  readonly wave: NodeSet | null;
  /** The condition `when`, which must be true for a path to enter; null if there is none. */
  readonly when: Template | null;
  /** The condition under which a map is complete before all of its items are done. */
  readonly completeWhen: Template | null;
  /** The node that undoes this one, if it has a `compensate`. */
  readonly compensation: CompiledNode | null;
}

/** An edge of a node, with the node that it leads to. */
export interface CompiledEdge {
  /** Its id, or `source>target@handle`; unique among the edges. */
  readonly via: string;
  readonly target: CompiledNode;
}

/** A node that merges paths. */
export interface CompiledJoin {
  readonly node: CompiledNode;
  /** How many paths of one wave it waits for; `all`: for every path that can still come. */
  readonly count: number | "all";
  /** True if `count` is larger than the number of edges: then it counts paths, also several by one edge. */
  readonly threads: boolean;
  /** What becomes of the paths of a wave that come after it has fired: see `Node.late`. */
  readonly late: "ignore" | "cancel" | "block";
  /** The last node that every path to the join passes. Each of its visits begins a wave; null if there is no such node. */
  readonly fork: CompiledNode | null;
  /** In the order of `edges`. */
  readonly edges: readonly JoinEdge[];
}

/** An edge into a join. */
export interface JoinEdge {
  readonly via: string;
  /** Nodes from which it can be reached without passing the join or its fork. */
  readonly reach: NodeSet;
}
