/** A path that fails; a whole scope if `pathId` is null. */
export interface Failure {
  readonly scope: string;
  readonly pathId: string | null;
}

/** What the replay of a history notes about failures, so that a restart can open again what has failed. */
export interface FailureNotes {
  readonly noted: Failure[];
  /** Nothing fails: paths, joins and scopes that would fail stay as they are. */
  readonly holdsBack: boolean;
}

interface NotedScope {
  readonly key: string;
  readonly root: { readonly failures: FailureNotes | null };
}

/** Notes in a replay that a path or a whole scope (null) fails. */
export function noteFailure({ root, key }: NotedScope, pathId: string | null): void {
  root.failures?.noted.push({ scope: key, pathId });
}

/** Whether a path or a whole scope (null) may fail now. Always true, except in a replay that holds failures back. */
export function mayFail(scope: NotedScope, pathId: string | null): boolean {
  noteFailure(scope, pathId);
  return scope.root.failures?.holdsBack !== true;
}
