import type { CompiledNode } from "../../definition/compiled.ts";
import type { NodeResult } from "../../snapshot/snapshot.ts";
import type { ScopeDraft } from "./draft.ts";
import { isChild } from "./draft.ts";
import { subtractSize } from "./held-size.ts";
import { keepOf } from "./open-draft.ts";
import { sizeOfResult } from "./result-size.ts";

/**
 * Appends the result of a node to the context. If the node keeps only its last results (`keep`), the older ones are dropped and their size
 * is subtracted. The size of the new result is not added here, because it is usually part of the size of the event that is being applied.
 */
export function addResult(scope: ScopeDraft, node: CompiledNode, result: NodeResult): void {
  const nodeId = node.node.id;
  if (scope.context === scope.borrowed) scope.context = { ...scope.context };
  const { context, borrowed } = scope;
  // the lists in `borrowed` belong to a snapshot, so a list is copied before it changes
  let results = Object.hasOwn(context, nodeId) ? context[nodeId]! : undefined;
  if (results === undefined) results = [];
  else if (Object.hasOwn(borrowed, nodeId) && results === borrowed[nodeId]) results = results.slice();
  results.push(result);
  const keep = keepOf(node);
  if (keep !== undefined && results.length > keep) {
    for (const dropped of results.splice(0, results.length - keep)) subtractSize(scope.root, sizeOfResult(dropped));
  }
  context[nodeId] = results;
}

/**
 * Appends a result that has no event of its own, such as that of a map whose last item has ended, and adds its size. `root.results`
 * collects such results for the `consequences` of the event that is being applied, so that the history holds them.
 */
export function addConsequence(scope: ScopeDraft, node: CompiledNode, result: NodeResult): void {
  addResult(scope, node, result);
  const bytes = sizeOfResult(result);
  scope.root.sizeBytes += bytes;
  scope.root.historyBytes += bytes;
  const placed = { nodeId: node.node.id, result: Object.freeze(result) };
  scope.root.results.push(isChild(scope) ? { scope: scope.key, ...placed } : placed);
}

/**
 * Marks a child as changed by the event of this version, so that the next commit writes it. Does nothing for the execution itself: every
 * commit writes its head.
 */
export function markChanged(scope: ScopeDraft, version: number): void {
  if (!isChild(scope)) return;
  scope.version = version;
  scope.root.changed.add(scope.key);
}
