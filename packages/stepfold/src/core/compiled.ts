import type { CompiledPolicy, Computed } from "./compiled-policy.ts";
import type { Node, WorkflowDefinition } from "./definition.ts";
import type { ExpressionLanguage, Issue, Template } from "./template.ts";

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
  readonly warnings: readonly Issue[];
  readonly language: ExpressionLanguage;
}

/** A node with what leaves it. */
export interface CompiledNode {
  readonly node: Node;
  /** Edges by handle, in the order of `edges`; `""` is the default handle. */
  readonly edges: ReadonlyMap<string, readonly CompiledEdge[]>;
  /** Of its data; null where the data holds no expression. */
  readonly data: Template | null;
  readonly retryPolicy: CompiledPolicy | null;
  readonly timeoutMs: Computed | null;
  /** Edges of the default handle. */
  readonly next: readonly CompiledEdge[];
}

/** An edge, by its end. */
export interface CompiledEdge {
  /** Its id, or `source>target@handle`. */
  readonly via: string;
  readonly target: CompiledNode;
}
