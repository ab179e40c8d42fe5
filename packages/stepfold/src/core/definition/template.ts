import type { ErrorInfo } from "../errors/error-info.ts";
import type { Issue } from "../errors/issue.ts";
import type { ChildEnd } from "../snapshot/parts/message.ts";
import type { Context, NodeResult } from "../snapshot/snapshot.ts";
import type { EpochMs, Json } from "../values/json.ts";

/** What an expression may read: one own property per root name (`nodes`, `input`, `$json`, ...). */
export type Scope = Readonly<Record<string, unknown>>;

/** A place in a scope: `["nodes", "charge", "last", "data", "id"]`; `"*"` where any member may be read. */
export type ReadPath = readonly string[];

/** A compiled JSON value whose strings contain `{{ expressions }}`. */
export interface Template {
  /** Everything that its expressions can possibly read. */
  readonly reads: readonly ReadPath[];
  /** JSON pointers of the strings that have text around their expressions. The value of such a string is always text. */
  readonly texts?: readonly string[];
  /**
   * Evaluates the expressions and returns the value in which their results take their places.
   *
   * A member whose expression is undefined is in the value, as undefined. So is an item of a list that an expression makes.
   *
   * @param together evaluations that are given the same object share one budget
   * @param blanks gets the JSON pointer, in the value, of each text in which an expression was undefined
   * @throws StepfoldError `EXPRESSION_FAILED`, `EXPRESSION_BUDGET`
   */
  evaluate(scope: Scope, together?: object, blanks?: string[]): unknown;
}

/** Ids of nodes by their names (`Node.name`). */
export type NodeNames = ReadonlyMap<string, string>;

/** What bounds the work of templates, while they are compiled and while they are evaluated. */
export interface TemplateBounds {
  /** The most steps of one evaluation of one expression (`Limits.expressionSteps`). */
  readonly steps: number;
  /** The search for mistakes in a value ends after more than these. */
  readonly issues: number;
  /**
   * Is called before each expression is read, with the number of its parts: names, values, signs. If it returns false, this expression and
   * those after it in the value are not compiled, and the value gets no template. The caller then reports why, as `compile` does.
   */
  read(parts: number): boolean;
}

/**
 * Compiles the `{{ }}` in a value. `template` is null if the value contains no expression (the value is then used as it is), if there are
 * issues, or if `bounds.read` has refused to go on.
 *
 * @param bounds by default the default limits hold, and everything is read
 */
export type CompileTemplate = (
  value: Json,
  pointer: string,
  names?: NodeNames,
  bounds?: TemplateBounds,
) => { readonly template: Template | null; readonly issues: readonly Issue[] };

/** The facts about an execution that its expressions can read as `execution`. */
export interface ExecutionFacts {
  /** The `workflowId` of the execution. */
  readonly id: string;
  /** The id of its definition; in a child too, the id of the whole execution's definition. */
  readonly workflow: string;
  /** When the execution started; undefined if a snapshot from outside does not say it. Expressions see this time as ISO 8601 text. */
  readonly startedAt: EpochMs | undefined;
  /** The input of the execution itself, also for expressions in its children. */
  readonly input: Json | undefined;
  /** How the execution ends, once that is decided. The nodes that run at the end (`finally`) read it. */
  readonly end?: ChildEnd | undefined;
}

/** The parts from which the scope of expressions is made. */
export interface ScopeParts {
  readonly context: Context;
  /** Expressions see only results of this version and older ones. */
  readonly since: number;
  readonly input?: Json | undefined;
  readonly metadata: Readonly<Record<string, Json>>;
  readonly globals?: unknown;
  /** The result of the previous node on the same path. Its output is `$json`. */
  readonly previous?: NodeResult | undefined;
  /** `$now`: a recorded time, such as that of `previous`. It is never read from a clock, so a repeated evaluation gives the same value. */
  readonly at: EpochMs;
  /** `vars`: the variables that expressions see, by name. */
  readonly vars?: Readonly<Record<string, Json>> | undefined;
  /** For a reducer: the current value of the variable. */
  readonly current?: Json | undefined;
  /** For a reducer: the value that a step sets. */
  readonly value?: Json | undefined;
  /** In an item of a map: the item. */
  readonly item?: Json | undefined;
  /** In an item of a map: the position of the item in the list, from 0. */
  readonly index?: number | undefined;
  /** `execution`: the facts about the execution. */
  readonly execution?: ExecutionFacts | undefined;
  /**
   * Returns the seed of `uuid()` and `Math.random()`. The same attempt always has the same seed, so its expressions give the same values
   * again.
   */
  readonly seed?: (() => string) | undefined;
  /** At a node where branches were joined: the results that the branches brought. */
  readonly inputs?: readonly NodeResult[] | undefined;
  /** For `when`: the open paths, by node. */
  readonly paths?: Json | undefined;
  /** For `completeWhen`: the progress of the map. `results` are the outputs of the items that are done. */
  readonly progress?:
    | { readonly results: readonly Json[]; readonly total: number; readonly done: number; readonly failed: number }
    | undefined;
  /** For a retry policy: the error of the failed attempt. */
  readonly error?: ErrorInfo | undefined;
  /** For a retry policy: the number of the failed attempt; 1 for the first. */
  readonly attempt?: number | undefined;
}

/** An expression language; ours is in `stepfold/expressions`. */
export interface ExpressionLanguage {
  readonly compileTemplate: CompileTemplate;
  readonly executionScope: (parts: ScopeParts) => Scope;
}
