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
} from "./model-state.fixture.ts";

/**
 * Ends all paths of a scope, and begins to undo its completed steps ("Endings").
 *
 * Its open children end in the same transition, and their steps are undone with those of the scope.
 */
export function beginEnding(frame: Frame, status: "failed" | "cancelled", error: ModelError | null): void {
  // steps that were begun and did not complete are undone first
  const order = (effect: Effect): number => (effect.completed ? effect.version : Number.POSITIVE_INFINITY);
  const undo = effectsBelow(frame).toSorted((left, right) => order(right) - order(left) || 0);
  endAllPaths(frame, status, false);
  frame.scope.ending = { status, error, undo, running: { status: "ready", turn: 1, attempts: 0 } };
}

/** Fails a scope because of one of its paths, or because of the scope itself (`path` is null). */
export function failScope(frame: Frame, path: ModelPath | null, error: ModelError): void {
  if (path && frame.definition.onFailure === "finish") {
    endPath(frame, path, "failed");
    frame.scope.failure ??= error;
  } else beginEnding(frame, "failed", error);
}

/** The completed and begun steps of this scope and its open children that have a compensation. */
function effectsBelow(frame: Frame): Effect[] {
  return allFrames(frame).flatMap((inner) => {
    for (const path of inner.scope.paths) giveUpStep(inner, path);
    const prefix = inner.chain.slice(frame.chain.length);
    const all = inner.scope.ending?.undo ?? inner.scope.effects;
    return all.map((effect) => ({ ...effect, path: prefix + effect.path }));
  });
}

/** The address of the running compensation of an ending scope, in the form of a path's address: `<chain>undo`. */
export function undoAddress(frame: Frame): string {
  const { again } = frame.scope.ending ?? {};
  return `${frame.chain}undo${again === undefined ? "" : `-${again}`}`;
}

/** Ends the running compensation, whether it has completed or failed, and begins the next one ("Endings"). */
export function nextUndo(frame: Frame, hasFailed: boolean): void {
  const { scope, world } = frame;
  if (!scope.ending) return;
  const effect = scope.ending.undo.shift();
  if (effect && hasFailed)
    world.notUndone.push({ ...effect, path: scope.ending.again === undefined ? frame.chain + effect.path : effect.path });
  scope.ending.running = { status: "ready", turn: scope.ending.running.turn + 1, attempts: 0 };
}

/** Keeps the execution from ending if a compensation has failed ("Endings"). True if it does. */
export function hold({ scope, world }: Frame): boolean {
  const { notUndone: undo, version: again } = world;
  if (undo.length === 0) return false;
  const { status, error } = scope.ending ?? { status: scope.status, error: null };
  scope.ending = { status: status as "failed", error, undo, again, running: { status: "ready", turn: 1, attempts: 0 } };
  world.notUndone = [];
  return true;
}

/** Performs the failed compensations of a parked execution again. */
export function tryAgain({ scope }: Frame): boolean {
  if (scope.status !== "parked") return false;
  scope.status = "active";
  return true;
}

/** Ends the execution although compensations have failed. */
export function giveUp({ scope, world }: Frame): boolean {
  if (scope.ending?.again === undefined) return false;
  scope.ending.undo = [];
  world.notUndone = [];
  return true;
}

/** Whether a scope will never change again. */
export function isTerminal(status: ModelStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Completes a scope by a node that ends it (`terminate`): all its other paths end. */
export function terminateScope(frame: Frame, path: ModelPath): void {
  endPath(frame, path, "end");
  endAllPaths(frame, "terminated");
}
