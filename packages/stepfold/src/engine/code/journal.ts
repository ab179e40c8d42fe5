import type { Event } from "../../core/snapshot/event.ts";
import { resultOf } from "../../core/snapshot/result.ts";
import type { NodeResult } from "../../core/snapshot/snapshot.ts";
import { numberOfStep } from "../../core/transition/code/code-path.ts";
import type { Draft, ScopeDraft } from "../../core/transition/draft/draft.ts";

/** What a step that code has asked for has given. */
export interface Remembered {
  /** As which number the code has asked for it, from 1. */
  readonly number: number;
  readonly nodeId: string;
  readonly result: NodeResult;
}

/**
 * Returns what the steps of a code have given that have ended after a version, in the order of their events. Of a step only its last result counts, and
 * only once its path has ended: an attempt that failed before a retry is a result too.
 *
 * @param codePathId the id of the path of the code
 */
export function journalOf({ context, paths }: ScopeDraft, codePathId: string, after: number): Remembered[] {
  const open = new Set(paths.map(({ id }) => id));
  const last = new Map<number, Remembered>();
  for (const [nodeId, results] of Object.entries(context)) {
    for (const result of results) {
      const number = result.version > after && !open.has(result.pathId) ? numberOfStep(codePathId, result.pathId) : null;
      if (number === null) continue;
      const before = last.get(number);
      if (!before || before.result.version < result.version) last.set(number, { number, nodeId, result });
    }
  }
  return [...last.values()].sort((a, b) => a.result.version - b.result.version);
}

/** Returns what the steps of a code have given by an event that was applied to a draft. */
export function givenBy(event: Event, draft: Draft, scope: ScopeDraft, codePathId: string): Remembered[] {
  const given: Remembered[] = [];
  const add = (key: string | undefined, nodeId: string, result: NodeResult): void => {
    const number = (key ?? "") === scope.key ? numberOfStep(codePathId, result.pathId) : null;
    if (number !== null && !scope.paths.some(({ id }) => id === result.pathId)) given.push({ number, nodeId, result });
  };
  const own = "undoes" in event && event.undoes ? null : resultOf(event);
  if (own) add("scope" in event ? event.scope : undefined, own.nodeId, own.result);
  for (const { scope: key, nodeId, result } of draft.results) add(key, nodeId, result);
  return given;
}

/** Whether a step has ended once, and a restart has let it be performed again. Its attempts have begun anew then. */
export function isPerformedAgain(
  { context, paths }: ScopeDraft,
  { nodeId, pathId }: { readonly nodeId: string; readonly pathId: string },
): boolean {
  const attempts = (context[nodeId] ?? []).flatMap((result) => (result.pathId === pathId ? [result.attempt] : []));
  const open = paths.find(({ id }) => id === pathId);
  if (open) attempts.push(open.attempts + 1);
  return attempts.some((attempt, i) => i > 0 && attempt <= attempts[i - 1]!);
}
