import type { Scope, ScopeParts } from "../core/definition/template.ts";
import { CHECKED } from "./compile/evaluate.ts";
import { NodesView } from "./compile/nodes-view.ts";

/**
 * What expressions see of an execution, at one place and moment of it.
 *
 * Cheap to make, since nothing is copied or looked up before an expression asks for it. The latest result of a node is
 * found by searching its results from the end. All parts but `globals` must be JSON: they are not checked again.
 *
 * ```ts
 * const scope = executionScope({ context: snapshot.context, since: path.since, metadata: snapshot.metadata, at: now });
 * compileExpression("nodes.charge.last.data.amount * 2").evaluate(scope);
 * ```
 */
export function executionScope(parts: ScopeParts): Scope {
  // One shape for all scopes, whatever is missing: engines read members of objects they know far faster.
  const scope = {
    [CHECKED]: true,
    nodes: new NodesView(parts.context, parts.since),
    input: parts.input,
    globals: parts.globals,
    metadata: parts.metadata,
    item: parts.item,
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
