import type { CompiledNode } from "../../definition/compiled.ts";
import { sizeOfResult } from "../../snapshot/result-size.ts";
import type { NodeResult } from "../../snapshot/snapshot.ts";
import type { ScopeDraft } from "./draft.ts";
import { isChild } from "./draft.ts";
import { subtractSize } from "./held-size.ts";
import { keepOf } from "./open-draft.ts";

/** Appends the result of a node. */
export function addResult(scope: ScopeDraft, node: CompiledNode, result: NodeResult): void {
  const nodeId = node.node.id;
  if (scope.context === scope.borrowed) scope.context = { ...scope.context };
  const { context, borrowed } = scope;
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

/** Appends a result that has no event of its own: it becomes a consequence of the event that is being applied. */
export function addConsequence(scope: ScopeDraft, node: CompiledNode, result: NodeResult): void {
  addResult(scope, node, result);
  const bytes = sizeOfResult(result);
  scope.root.sizeBytes += bytes;
  scope.root.historyBytes += bytes;
  const placed = { nodeId: node.node.id, result: Object.freeze(result) };
  scope.root.results.push(isChild(scope) ? { scope: scope.key, ...placed } : placed);
}

/** Marks a child as changed, so that the next commit writes it. */
export function markChanged(scope: ScopeDraft, version: number): void {
  if (!isChild(scope)) return;
  scope.version = version;
  scope.root.changed.add(scope.key);
}
