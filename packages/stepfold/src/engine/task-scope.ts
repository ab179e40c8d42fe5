import type { Draft } from "../core/draft.ts";
import type { Task } from "../core/plan.ts";
import type { NodeResult } from "../core/snapshot.ts";
import type { Scope, ScopeParts } from "../core/template.ts";

/** What a task's expressions see: the execution as of the path's arrival, with today's globals. Made when first needed. */
export function taskScope(task: Task, draft: Draft, globals: unknown, more?: Pick<ScopeParts, "error" | "attempt">): () => Scope {
  let scope: Scope | null = null;
  return () => {
    if (scope) return scope;
    const { context, input, metadata, createdAt = 0, workflow } = draft;
    const previous = previousResult(task, draft);
    scope = workflow.language.executionScope({
      context,
      since: task.since,
      input,
      metadata,
      globals,
      previous,
      at: previous?.timestamp ?? createdAt,
      ...more,
    });
    return scope;
  };
}

/** The result that the path came with: the one of its arrival's version, at the node before. */
function previousResult({ stepPath, since, pathId }: Task, { context }: Draft): NodeResult | undefined {
  const nodeId = stepPath.at(-1);
  if (nodeId === undefined || !Object.hasOwn(context, nodeId)) return undefined;
  const results = context[nodeId]!;
  let own: NodeResult | undefined;
  for (let i = results.length - 1; i >= 0; i--) {
    const result = results[i]!;
    if (result.version === since) return result;
    if (!own && result.version < since && result.pathId === pathId) own = result;
  }
  return own ?? results.findLast((result) => result.version <= since);
}
