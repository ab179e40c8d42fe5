import type { Scope, ScopeParts } from "../../core/definition/template.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import type { Context, NodeResult } from "../../core/snapshot/snapshot.ts";

/** Marks a scope whose values, `globals` apart, are known to be JSON: they leave an expression as they are. */
export const checkedScope: unique symbol = Symbol("stepfold.checkedScope");

/**
 * What expressions see of an execution, at one place and moment of it.
 *
 * Cheap to make, since nothing is copied or looked up before an expression asks for it. All parts but `globals` must be JSON: they are not checked again.
 *
 * ```ts
 * const scope = executionScope({ context: snapshot.context, since: path.since, metadata: snapshot.metadata, at: now });
 * compileExpression("nodes.charge.last.data.amount * 2").evaluate(scope);
 * ```
 */
export function executionScope(parts: ScopeParts): Scope {
  // One shape for all scopes, whatever is missing: engines read members of objects they know far faster.
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

/** What expressions see of one result. */
export interface ResultView {
  readonly data: unknown;
  readonly error: string | undefined;
  readonly timestamp: number;
}

/**
 * The root `nodes`: results as they were at a version of the snapshot. A class, so that nothing but the compiler, which
 * knows it, can read it: to everything else it is a class instance, and those have no members.
 */
export class NodesView {
  /** True for a NodesView, of whichever copy of this package. */
  static is(value: unknown): value is NodesView {
    return value instanceof NodesView || typeof safeMember(value, "~nodesView") === "function";
  }

  readonly #context: Context;
  readonly #since: number;

  constructor(context: Context, since: number) {
    this.#context = context;
    this.#since = since;
  }

  /** Recognises views of a second copy of this package in the same process. A method, because JSON has none. */
  "~nodesView"(): true {
    return true;
  }

  /** The latest visible result. Versions rise: it is the last one, or found by halves among those that came later. */
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

  /** How many results there are to look through. */
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
