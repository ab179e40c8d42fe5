import type { UndoneBy } from "../../snapshot/parts/undone-by.ts";
import type { ScopeDraft } from "../draft/draft.ts";
import { type DraftPath, firstPath, nodeWith } from "../draft/draft-path.ts";

// The rules of scopes whose steps code asks for (docs/path-semantics.md, "Code").

/** Returns the path of the code in a scope with code; undefined once the code has ended. */
export function codePathOf({ workflow, paths }: ScopeDraft): DraftPath | undefined {
  const [first] = paths;
  return first && first.nodeId === workflow.starts[0] && !first.undoes ? first : undefined;
}

/** Returns the id of the path of the step that the code on this path asks for as its k-th one, from 1. */
export function stepPathId(codePathId: string, k: number): string {
  return `${codePathId}.${k}`;
}

/** Returns as which number the code on this path has asked for the step of a path; null if the path is not that of a step. */
export function numberOfStep(codePathId: string, pathId: string): number | null {
  if (!pathId.startsWith(`${codePathId}.`)) return null;
  const digits = pathId.slice(codePathId.length + 1);
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : null;
}

/** What the first event of a step that code has asked for says of its path. */
interface FirstEvent {
  readonly pathId: string;
  readonly nodeId: string;
  readonly turn: number;
  readonly undo?: UndoneBy;
}

/**
 * Opens the path of a step that code has asked for, by the first event of the step: no event says that it was asked for. Undefined if the event
 * is not the first one of such a step: the code has ended, the step has ended, or the step was asked for before the code was restarted under
 * new keys.
 */
export function askedPath(scope: ScopeDraft, { pathId, nodeId, turn, undo }: FirstEvent): DraftPath | undefined {
  const code = scope.workflow.code ? codePathOf(scope) : undefined;
  const number = code ? numberOfStep(code.id, pathId) : null;
  if (!code || number === null || nodeId === code.nodeId || !isFirstOfStep(scope, { pathId, turn })) return undefined;
  code.forks = Math.max(code.forks, number);
  const path = firstPath(nodeWith(scope.workflow.nodes, nodeId, undo), scope.root.version);
  // the visit is that of the code, so that idempotency keys and ids of waits are new after a restart under new keys
  Object.assign(path, { id: pathId, turn, visit: turn, undo });
  scope.paths.push(path);
  return path;
}

/** Whether nothing has happened yet of a step that code has asked for: its path comes into being with its first event. */
export function isFirstOfStep(scope: ScopeDraft, { pathId, turn }: Pick<FirstEvent, "pathId" | "turn">): boolean {
  const code = codePathOf(scope);
  return code !== undefined && turn === code.visit && !hasEnded(scope, pathId);
}

/** Whether a task is that of the code of its scope. */
export function isOfCode(scope: ScopeDraft, { pathId, undoes }: { readonly pathId: string; readonly undoes?: unknown }): boolean {
  return scope.workflow.code && !undoes && codePathOf(scope)?.id === pathId;
}

/** Whether a step that code has asked for has ended: the code has its result, or will get it. */
function hasEnded(scope: ScopeDraft, pathId: string): boolean {
  if (!scope.endedSteps) {
    const ended = new Set<string>();
    for (const results of Object.values(scope.context)) for (const result of results) ended.add(result.pathId);
    for (const { id } of scope.paths) ended.delete(id);
    scope.endedSteps = ended;
  }
  return scope.endedSteps.has(pathId);
}

/** Lets the code of a scope go on, after a path has ended: it may have waited for what that path has given. */
export function wakeCode(scope: ScopeDraft, ended: string): void {
  scope.endedSteps?.add(ended);
  const code = codePathOf(scope);
  if (code?.status === "suspended" && !code.waits) code.status = "ready";
}
