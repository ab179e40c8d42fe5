import type { CompiledNode } from "../definition/compiled.ts";
import type { Scope, ScopeParts } from "../definition/template.ts";
import type { NodeResult, ResultRef } from "../snapshot/snapshot.ts";
import { type Draft, factsOf, isChild, type ScopeDraft, seedOf, variablesAt } from "./draft/draft.ts";
import { scopeAt } from "./draft/open-draft.ts";
import type { Task } from "./plan.ts";

/** Returns the scope whose results a task reads. A task that undoes a step of a child takes place in the scope of that child. */
export function scopeOfTask(task: Task, draft: Draft): ScopeDraft {
  return scopeAt(draft, task.undoes?.scope ?? task.scope)!;
}

/** Returns the node that a task performs: the node of its path, or the compensation of that node. */
export function nodeOfTask(task: Task, { workflow }: Pick<ScopeDraft, "workflow">): CompiledNode {
  const node = workflow.nodes.get(task.nodeId)!;
  return task.undoes ? node.compensation! : node;
}

/**
 * Returns a function that gives what the expressions of a task can read: results and variables as of the arrival of the path, the present
 * metadata, and the given globals. The value is created at the first call.
 */
export function taskScope(task: Task, place: ScopeDraft, globals: unknown, more?: Pick<ScopeParts, "error" | "attempt">): () => Scope {
  let scope: Scope | null = null;
  return () => {
    if (scope) return scope;
    const { context, input, root, workflow } = place;
    const inputs = task.inputs && inputsOf(task.inputs, place);
    const previous = inputs ? inputs[0] : previousOf(task, place);
    scope = workflow.language.executionScope({
      context,
      since: task.since,
      vars: variablesAt(place, task.since),
      input,
      metadata: root.metadata,
      globals,
      previous,
      at: previous?.timestamp ?? root.createdAt ?? 0,
      item: isChild(place) && place.item !== null ? place.input : undefined,
      index: isChild(place) && place.item !== null ? place.item : undefined,
      execution: factsOf(root),
      seed: () => `${seedOf(root)} ${task.scope ?? ""}/${task.pathId}#${task.visit} ${task.attempt}`,
      attempt: task.attempt,
      inputs,
      ...more,
    });
    return scope;
  };
}

/** Returns the result whose output the expressions of a task read as `$json`; undefined if there is none. */
export function previousOf(task: Task, place: Pick<ScopeDraft, "context">): NodeResult | undefined {
  if (task.undoes) return undoneResult(task, place);
  return task.inputs ? inputsOf(task.inputs, place)[0] : previousResult(task, place);
}

/** Returns the results with which the branches came to a join, without those that `keep` has dropped. */
export function inputsOf(inputs: readonly ResultRef[], { context }: Pick<ScopeDraft, "context">): NodeResult[] {
  const found: NodeResult[] = [];
  for (const { nodeId, version } of inputs) {
    const result = Object.hasOwn(context, nodeId) ? context[nodeId]!.find((candidate) => candidate.version === version) : undefined;
    if (result) found.push(result);
  }
  return found;
}

/** Returns the result that a compensation undoes; undefined if the step had not completed, or if the task is not a compensation. */
export function undoneResult({ undoes, nodeId }: Task, { context }: Pick<ScopeDraft, "context">): NodeResult | undefined {
  if (undoes?.version === undefined) return undefined;
  return Object.hasOwn(context, nodeId) ? context[nodeId]!.find(({ version }) => version === undoes.version) : undefined;
}

/**
 * Returns the result of the node before, with the version at which the path arrived. If there is none, the latest older result of that node
 * by the same path counts, else the latest older one by any path.
 */
function previousResult({ stepPath, since, pathId }: Task, { context }: Pick<ScopeDraft, "context">): NodeResult | undefined {
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
