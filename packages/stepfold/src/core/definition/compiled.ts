import type { Issue } from "../errors/issue.ts";
import type { Json } from "../values/json.ts";
import type { Limits } from "../values/limits.ts";
import type { CompiledPolicy, Computed } from "./compiled-policy.ts";
import type { Node, WorkflowDefinition } from "./definition.ts";
import type { NodeSet } from "./graph/node-set.ts";
import type { ExpressionLanguage, Template } from "./template.ts";

/** A workflow made ready to run: checked, indexed, its expressions compiled. Make one with `compile`. */
export interface CompiledWorkflow {
  /** The definition, frozen. */
  readonly definition: WorkflowDefinition;
  /** Identity of the definition: SHA-256 of everything in it that the engine uses. */
  readonly hash: string;
  /** The nodes by id. */
  readonly nodes: ReadonlyMap<string, CompiledNode>;
  /** True if the code of its one node asks for the steps of the workflow. */
  readonly code: boolean;
  /** True if `code` is true of this workflow or of one inside it. */
  readonly runsCode: boolean;
  /** Ids of the first nodes. If there is exactly one, executions begin there by default; otherwise the caller has to name it. */
  readonly starts: readonly string[];
  /** The node that runs first at the end of every execution (`finally`); null if there is none. */
  readonly finally: CompiledNode | null;
  /** The template of the execution's output; null if the output is that of the last node that ended a path. */
  readonly output: Template | null;
  /** The declared variables, by name. */
  readonly variables: ReadonlyMap<string, CompiledVariable>;
  /** The longest time in milliseconds that one run of the workflow may take; null if there is no limit. */
  readonly timeoutMs: Computed | null;
  /** The concurrency key and limit of its executions; null if there is none. */
  readonly concurrency: { readonly key: Template; readonly limit: number } | null;
  /** How fast executions with the same key may begin; null if there is no limit. If `key` is null, the key is the id of the workflow. */
  readonly rateLimit: { readonly key: Template | null; readonly limit: number; readonly periodMs: number } | null;
  /** Nodes where paths are merged, in the order of `nodes`. */
  readonly joins: readonly CompiledJoin[];
  /** True if a node has a `mutex` or a `when`, so that it may hold paths before they run. */
  readonly holds: boolean;
  /** True if any node has a `compensate`, in this workflow, in those around it or in those inside them. */
  readonly compensates: boolean;
  /**
   * The workflows that nodes may run, by name: those in `workflows` of this definition and of the definitions around it, and, for
   * recursion, this workflow and those around it.
   */
  readonly workflows: WorkflowNames;
  /** Issues found by the check of the whole definition. None of them is an error, except in a result of `compileToJudge`. */
  readonly warnings: readonly Issue[];
  readonly language: ExpressionLanguage;
  readonly limits: Limits;
}

/** A declared variable. */
export interface CompiledVariable {
  /** The value before the variable is set; undefined if there is none. */
  readonly initial: Json | undefined;
  readonly reducer: Reducer | Template;
}

/** The names of the built-in reducers; see `Variable.reducer`. */
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
  /** Position of the node in `nodes` of the definition, from 0. */
  readonly index: number;
  /** Edges by handle, in the order of `edges`; `""` is the default handle. */
  readonly edges: ReadonlyMap<string, readonly CompiledEdge[]>;
  /** The template of the node's data; null if the data contains no expression. */
  readonly data: Template | null;
  /** The data as written, null if there is none, and without `completeWhen` if that is compiled. Used if it contains no expression. */
  readonly constant: Json;
  /** The node's own retry policy; null if it has none. */
  readonly retryPolicy: CompiledPolicy | null;
  /** The longest time of one attempt, in milliseconds; null if the node does not set it. */
  readonly timeoutMs: Computed | null;
  /** The longest time without a heartbeat, in milliseconds; null if the node does not set it. */
  readonly heartbeatMs: Computed | null;
  /** Edges of the default handle. */
  readonly next: readonly CompiledEdge[];
  /** How the node merges paths; null if each path passes it separately. */
  readonly join: CompiledJoin | null;
  /**
   * Only at a fork whose branches meet in a join, otherwise null. Each visit of the fork begins a wave: the paths that come from that
   * visit. The set holds the nodes at which a path still belongs to its wave, because it can reach one of the joins without passing the
   * fork again.
   */
  readonly wave: NodeSet | null;
  /** The condition `when`, which must be true for a path to enter; null if there is none. */
  readonly when: Template | null;
  /** Only for a map: the condition under which it is complete early. Null if there is none, or only a number of items (`MapState`). */
  readonly completeWhen: Template | null;
  /** The node that undoes this one; null if this node has no `compensate`. */
  readonly compensation: CompiledNode | null;
}

/** An edge of a node, with the node that it leads to. */
export interface CompiledEdge {
  /** Name of the edge: its id, or `source>target@handle`; with `#2`, `#3`, ... at the end if another edge has the name already. */
  readonly via: string;
  readonly target: CompiledNode;
}

/** A node that merges paths. */
export interface CompiledJoin {
  readonly node: CompiledNode;
  /** How many paths of one wave the join waits for; `all`: it waits for every path that can still arrive. */
  readonly count: number | "all";
  /** True if `count` is larger than the number of incoming edges. Then the join counts all paths that arrive, not one for each edge. */
  readonly threads: boolean;
  /** What happens to the paths of a wave that have not arrived when the join fires; see `Node.late`. */
  readonly late: "ignore" | "cancel" | "block";
  /** The last node that every path to the join passes. Each visit of it begins a wave. Null if there is none, or if `threads` is true. */
  readonly fork: CompiledNode | null;
  /** The incoming edges, in the order of `edges` of the definition. */
  readonly edges: readonly JoinEdge[];
}

/** An edge into a join. */
export interface JoinEdge {
  /** Name of the edge, as in `CompiledEdge.via`. */
  readonly via: string;
  /** Nodes from which a path can reach the edge without passing the join or its fork. */
  readonly reach: NodeSet;
}
