import {
  allFrames,
  type Effect,
  endAllPaths,
  endPath,
  type Frame,
  giveUpStep,
  type ModelError,
  type ModelPath,
  type ModelStatus,
  type Scope,
} from "./model-state.fixture.ts";

/**
 * Ends all paths of a scope, and undoes what was done ("Endings").
 *
 * What its open children did is taken back with it: they end in the same transition.
 */
export function beginEnding(frame: Frame, status: "failed" | "cancelled", error: ModelError | null): void {
  // what did not complete comes first
  const order = (effect: Effect): number => (effect.completed ? effect.version : Number.POSITIVE_INFINITY);
  const undo = effectsBelow(frame).toSorted((left, right) => order(right) - order(left) || 0);
  endAllPaths(frame, status, false);
  frame.scope.ending = { status, error, undo, running: { status: "ready", turn: 1, attempts: 0 } };
}

/** The failure of a scope by one of its paths, which may have had an effect all the same, or by itself. */
export function failScope(frame: Frame, path: ModelPath | null, error: ModelError): void {
  if (path && frame.definition.onFailure === "finish") {
    endPath(frame, path, "failed");
    frame.scope.failure ??= error;
  } else beginEnding(frame, "failed", error);
}

/** What this scope and its open children did, or may have done, that has a compensation. */
function effectsBelow(frame: Frame): Effect[] {
  return allFrames(frame).flatMap((inner) => {
    for (const path of inner.scope.paths) giveUpStep(inner, path);
    const prefix = inner.chain.slice(frame.chain.length);
    const all = inner.scope.ending?.undo ?? inner.scope.effects;
    return all.map((effect) => ({ ...effect, path: prefix + effect.path }));
  });
}

/** Address of the compensation that runs now in an ending scope, as if it were a path of its own: `<chain>undo`. */
export function undoAddress(frame: Frame): string {
  return `${frame.chain}undo`;
}

/** Ends the running compensation, whatever came of it, and begins the next one ("Endings"). */
export function nextUndo(scope: Scope): void {
  if (!scope.ending) return;
  scope.ending.undo.shift();
  scope.ending.running = { status: "ready", turn: scope.ending.running.turn + 1, attempts: 0 };
}

/** Whether a scope will never change again. */
export function isTerminal(status: ModelStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** `terminate`: the scope has completed, its other paths end. */
export function terminateScope(frame: Frame, path: ModelPath): void {
  endPath(frame, path, "end");
  endAllPaths(frame, "terminated");
}
