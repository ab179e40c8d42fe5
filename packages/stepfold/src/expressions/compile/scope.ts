import type { Scope, ScopeParts } from "../../core/definition/template.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import type { Context, NodeResult } from "../../core/snapshot/snapshot.ts";

/** Marks a scope whose values, except `globals`, are known to be JSON. Expressions return such values without checking and copying them. */
export const checkedScope: unique symbol = Symbol("stepfold.checkedScope");

/**
 * Makes the scope of expressions: what they can read of an execution, at one place and moment of it.
 *
 * A scope is cheap to make: apart from the short list of `inputs`, nothing is copied or looked up before an expression reads it. All
 * values but `globals` must be JSON: they are not checked again.
 *
 * ```ts
 * const scope = executionScope({ context: snapshot.context, since: path.since, metadata: snapshot.metadata, at: now });
 * compileExpression("nodes.charge.last.data.amount * 2").evaluate(scope);
 * ```
 */
export function executionScope(parts: ScopeParts): Scope {
  // All scopes have the same members in the same order, because JavaScript engines read members of objects of one shape much faster.
  const scope = {
    [checkedScope]: true,
    nodes: new NodesView(parts.context, parts.since),
    input: parts.input,
    globals: parts.globals,
    metadata: parts.metadata,
    vars: parts.vars,
    current: parts.current,
    value: parts.value,
    item: parts.item,
    index: parts.index,
    execution: parts.execution,
    seed: parts.seed,
    inputs: parts.inputs?.map(({ output, error, timestamp }) => ({ data: output, error, timestamp })),
    paths: parts.paths,
    results: parts.progress?.results,
    total: parts.progress?.total,
    done: parts.progress?.done,
    failed: parts.progress?.failed,
    $json: parts.previous?.output,
    $now: parts.at,
    error: parts.error,
    attempt: parts.attempt,
  };
  return scope;
}

/** What expressions can read of one result of a node. */
export interface ResultView {
  readonly data: unknown;
  readonly error: string | undefined;
  readonly timestamp: number;
}

/**
 * The value of the name `nodes`: the results as they were at a version of the snapshot. It is a class, because
 * expressions cannot read members of class instances: only the code that the compiler writes for `nodes` can read it.
 */
export class NodesView {
  /** True for a NodesView, also for one made by another copy of this package. */
  static is(value: unknown): value is NodesView {
    return value instanceof NodesView || typeof safeMember(value, "~nodesView") === "function";
  }

  readonly #context: Context;
  /** Results of a later version are not visible. */
  readonly #since: number;

  constructor(context: Context, since: number) {
    this.#context = context;
    this.#since = since;
  }

  /** Lets `is` recognise views of another copy of this package in the same process. It is a method, because JSON data cannot have one. */
  "~nodesView"(): true {
    return true;
  }

  /** Returns the latest visible result. Results are sorted by version: the last one is tried first, then a binary search begins. */
  last(id: string): ResultView | undefined {
    const results = this.#of(id);
    let [visible, end] = [-1, results.length];
    for (let index = end - 1; visible + 1 < end; index = (visible + end) >>> 1) {
      if (results[index]!.version <= this.#since) visible = index;
      else end = index;
    }
    return visible < 0 ? undefined : view(results[visible]!);
  }

  /** Every visible result, oldest first. */
  all(id: string): readonly ResultView[] {
    const results: ResultView[] = [];
    for (const result of this.#of(id)) if (result.version <= this.#since) results.push(view(result));
    return results;
  }

  /** The number of results of a node, visible or not. */
  count(id: string): number {
    return this.#of(id).length;
  }

  #of(id: string): readonly NodeResult[] {
    return Object.hasOwn(this.#context, id) ? this.#context[id]! : [];
  }
}

function view(result: NodeResult): ResultView {
  return { data: result.output, error: result.error, timestamp: result.timestamp };
}
