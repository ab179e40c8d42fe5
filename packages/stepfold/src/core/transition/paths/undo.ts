import type { CompiledNode } from "../../definition/compiled.ts";
import { errorInfo } from "../../errors/error-info.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import { belongsTo } from "../../snapshot/address.ts";
import type { NodeResult, Undo } from "../../snapshot/snapshot.ts";
import { isChild, type ScopeDraft } from "../draft/draft.ts";
import { firstPath, visit } from "../draft/draft-path.ts";
import { childOf, scopeAt } from "../draft/open-draft.ts";

/** The id of the path that undoes the steps of a scope. */
const undoPathId = "undo";

interface Undoable {
  readonly node: CompiledNode;
  readonly undoes: Undo;
}

/** Begins to undo the steps of a scope and its children, the newest first. False if there is nothing to undo. */
export function firstUndo(scope: ScopeDraft, version: number): boolean {
  const found = begun(scope) ?? newest(scope, Number.POSITIVE_INFINITY);
  if (!found) return false;
  scope.paths = [{ ...firstPath(found.node, version), id: undoPathId, undoes: found.undoes }];
  return true;
}

/** Goes on with the next step to undo. If nothing is left, it removes the path and gives false. */
function nextUndo(scope: ScopeDraft, version: number): boolean {
  const path = scope.paths[0]!;
  const { version: undone = Number.POSITIVE_INFINITY } = path.undoes!;
  if (path.undoes!.version === undefined)
    scope.ending = Object.freeze({ ...scope.ending!, begun: Object.freeze(scope.ending!.begun.slice(1)) });
  const found = begun(scope) ?? newest(scope, undone);
  if (!found) {
    scope.paths = [];
    return false;
  }
  visit(path, found.node, version);
  path.undoes = found.undoes;
  path.status = "ready";
  return true;
}

function begun({ root, ending, workflow }: ScopeDraft): Undoable | null {
  const first = ending?.begun[0];
  if (!first) return null;
  const { nodeId, ...undoes } = first;
  const place = undoes.scope === undefined ? workflow : scopeAt(root, undoes.scope)!.workflow;
  return { node: place.nodes.get(nodeId)!, undoes: Object.freeze(undoes) };
}

/** The newest result before a version that can be undone, and was not yet. */
function newest(scope: ScopeDraft, before: number): Undoable | null {
  let found: Undoable | null = null;
  let version = -1;
  for (const place of scopesToUndo(scope)) {
    for (const node of place.workflow.nodes.values()) {
      const result = node.compensation && lastBefore(place, node, before);
      if (!result || result.version <= version) continue;
      version = result.version;
      const undoes = { pathId: result.pathId, version };
      found = { node, undoes: Object.freeze(isChild(place) ? { scope: place.key, ...undoes } : undoes) };
    }
  }
  return found;
}

/** Whether a child, or one inside it, has a step that can be undone. */
export function hasEffects(child: ScopeDraft): boolean {
  return scopesToUndo(child).some(({ begun: { length } }) => length > 0) || newest(child, Number.POSITIVE_INFINITY) !== null;
}

/** The scope itself, and the children in it that have ended and are kept because of what they did. */
export function scopesToUndo(scope: ScopeDraft): ScopeDraft[] {
  const { root } = scope;
  const places = [scope];
  for (const [key, child] of root.children) {
    if (child.kept && (scope.key === "" || (key !== scope.key && belongsTo(key, scope.key)))) places.push(childOf(root, key)!);
  }
  return places;
}

function lastBefore({ root, key, context }: ScopeDraft, { node }: CompiledNode, before: number): NodeResult | undefined {
  const results = Object.hasOwn(context, node.id) ? context[node.id]! : [];
  return results.findLast(({ version, error }) => version < before && error === undefined && !isUndone(root, key, version));
}

function isUndone({ compensations }: ScopeDraft["root"], key: string, version: number): boolean {
  return compensations.some(({ undoes }) => undoes.version === version && (undoes.scope ?? "") === key);
}

/** Records the result of a compensation and goes on with the next one; ends the scope if there is none. */
export function compensated(scope: ScopeDraft, nodeId: string, { pathId: _, ...result }: NodeResult): void {
  const { root } = scope;
  const { undoes } = scope.paths[0]!;
  root.compensations.push(Object.freeze({ nodeId, undoes: undoes!, ...result }));
  if (result.error !== undefined && !scope.ending!.error) {
    const error = errorInfo(new StepfoldError("COMPENSATION_FAILED", { nodeId, message: result.error }), nodeId);
    scope.ending = Object.freeze({ ...scope.ending!, error });
  }
  if (nextUndo(scope, root.version + 1)) return;
  scope.ended = scope.ending!.status;
  scope.error = scope.ending!.error;
  scope.ending = undefined;
}
