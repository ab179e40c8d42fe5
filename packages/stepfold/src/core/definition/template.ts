import type { ErrorInfo } from "../errors/error-info.ts";
import type { Issue } from "../errors/issue.ts";
import type { ChildEnd } from "../snapshot/message.ts";
import type { Context, NodeResult } from "../snapshot/snapshot.ts";
import type { EpochMs, Json } from "../values/json.ts";

/** What an expression may read: one own property per root name (`nodes`, `input`, `$json`, ...). */
export type Scope = Readonly<Record<string, unknown>>;

/** A place in a scope: `["nodes", "charge", "last", "data", "id"]`; `"*"` where any member may be read. */
export type ReadPath = readonly string[];

/** A JSON value whose strings held `{{ expressions }}`, compiled once. */
export interface Template {
  /** Everything it can possibly read. */
  readonly reads: readonly ReadPath[];
  /** Where its strings stand that have text around their expressions, as JSON pointers: whatever these give, it is text. */
  readonly texts?: readonly string[];
  /**
   * @param together evaluations that are given the same object share one budget
   * @throws StepfoldError `EXPRESSION_FAILED`, `EXPRESSION_BUDGET`
   */
  evaluate(scope: Scope, together?: object): unknown;
}

/** Ids of nodes by the names that people gave them. */
export type NodeNames = ReadonlyMap<string, string>;

/** Compiles the `{{ }}` in a value. `template` is null when there is none: the value stands for itself. */
export type CompileTemplate = (
  value: Json,
  pointer: string,
  names?: NodeNames,
) => { readonly template: Template | null; readonly issues: readonly Issue[] };

/** What expressions may know of their execution. */
export interface ExecutionFacts {
  /** Its `workflowId`. */
  readonly id: string;
  /** The id of its definition. */
  readonly workflow: string;
  /** Expressions see ISO 8601. */
  readonly startedAt: EpochMs | undefined;
  /** What the execution was started with, also in its children. */
  readonly input: Json | undefined;
  /** How it ends, once that is decided: for the nodes that run at its end (`finally`). */
  readonly end?: ChildEnd | undefined;
}

/** What a scope is made from. */
export interface ScopeParts {
  readonly context: Context;
  /** Only results of this version and older are seen. */
  readonly since: number;
  readonly input?: Json | undefined;
  readonly metadata: Readonly<Record<string, Json>>;
  readonly globals?: unknown;
  /** Result of the node before, on the same path: `$json`. */
  readonly previous?: NodeResult | undefined;
  /** `$now`: recorded, never read from a clock. */
  readonly at: EpochMs;
  /** `vars`: the variables that are seen, by name. */
  readonly vars?: Readonly<Record<string, Json>> | undefined;
  /** For a reducer: what the variable is, and what it is set to. */
  readonly current?: Json | undefined;
  readonly value?: Json | undefined;
  /** Of an item of a map: the item. */
  readonly item?: Json | undefined;
  /** Of an item of a map: its place in the list, from 0. */
  readonly index?: number | undefined;
  /** What is known of the execution. */
  readonly execution?: ExecutionFacts | undefined;
  /** Gives the text from which `uuid()` and `Math.random()` are calculated. The same attempt always has the same text, so its expressions have the same values again. */
  readonly seed?: (() => string) | undefined;
  /** Of a node where branches were joined: what they came with. */
  readonly inputs?: readonly NodeResult[] | undefined;
  /** For `when`: the open paths, by node. */
  readonly paths?: Json | undefined;
  /** For `completeWhen`: how far the map is. */
  readonly progress?:
    | { readonly results: readonly Json[]; readonly total: number; readonly done: number; readonly failed: number }
    | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly attempt?: number | undefined;
}

/** An expression language; ours is in `stepfold/expressions`. */
export interface ExpressionLanguage {
  readonly compileTemplate: CompileTemplate;
  readonly executionScope: (parts: ScopeParts) => Scope;
}
