import type { Issue } from "../errors/issue.ts";
import type { Json } from "../values/json.ts";
import type { Limits } from "../values/limits.ts";
import type { CompiledPolicy, Computed } from "./compiled-policy.ts";
import type { Node, WorkflowDefinition } from "./definition.ts";
import type { NodeSet } from "./node-set.ts";
import type { ExpressionLanguage, Template } from "./template.ts";

/** A workflow made ready to run: checked, indexed, its expressions compiled. Make one with `compile`. */
export interface CompiledWorkflow {
  /** Frozen. */
  readonly definition: WorkflowDefinition;
  /** Identity of the definition: SHA-256 of what the engine acts on. */
  readonly hash: string;
  readonly nodes: ReadonlyMap<string, CompiledNode>;
  /** Where an execution may begin by itself; it begins there if this is exactly one. */
  readonly starts: readonly string[];
  /** Of the execution's output; null where the last result is the output. */
  readonly output: Template | null;
  /** The concurrency key and limit of its executions; null if there is none. */
  readonly concurrency: { readonly key: Template; readonly limit: number } | null;
  /** Nodes where paths are merged, in the order of `nodes`. */
  readonly joins: readonly CompiledJoin[];
  /** Whether any node has a `mutex` or a `when`. */
  readonly holds: boolean;
  /** Whether a node of it, or of a workflow that it may run, has a `compensate`. */
  readonly compensates: boolean;
  /** The definitions that its nodes may run, by name: its own, those of the workflow around it, and both themselves. */
  readonly workflows: ReadonlyMap<string, CompiledWorkflow>;
  readonly warnings: readonly Issue[];
  readonly language: ExpressionLanguage;
  readonly limits: Limits;
}

/** A node with what leaves it. */
export interface CompiledNode {
  readonly node: Node;
  /** Its place in `nodes`. */
  readonly index: number;
  /** Edges by handle, in the order of `edges`; `""` is the default handle. */
  readonly edges: ReadonlyMap<string, readonly CompiledEdge[]>;
  /** Of its data; null where the data holds no expression. */
  readonly data: Template | null;
  /** Its data where that holds no expression. */
  readonly constant: Json;
  readonly retryPolicy: CompiledPolicy | null;
  readonly timeoutMs: Computed | null;
  /** Edges of the default handle. */
  readonly next: readonly CompiledEdge[];
  /** How paths are merged here; null where each goes through by itself. */
  readonly join: CompiledJoin | null;
  /** At the fork of joins: the nodes from which one of these joins can be reached without passing the fork again. */
  readonly wave: NodeSet | null;
  /** The condition of a milestone. */
  readonly when: Template | null;
  /** Of a map: when it is complete. */
  readonly completeWhen: Template | null;
  /** What undoes it, as a node of its own. */
  readonly compensation: CompiledNode | null;
}

/** An edge, by its end. */
export interface CompiledEdge {
  /** Its id, or `source>target@handle`; unique among the edges. */
  readonly via: string;
  readonly target: CompiledNode;
}

/** A node that merges paths. */
export interface CompiledJoin {
  readonly node: CompiledNode;
  /** Paths it takes; `all`: those that can come. */
  readonly count: number | "all";
  /** More paths than edges: it counts arrivals, whatever edge they come by. */
  readonly threads: boolean;
  readonly late: "ignore" | "cancel" | "block";
  /** The node that every way to the join leads through, and whose visits tell waves apart; null where there is none. */
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
