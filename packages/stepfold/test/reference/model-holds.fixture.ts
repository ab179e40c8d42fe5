import { type ModelWhen, nodeOf } from "./model-definition.fixture.ts";
import { byAge, type Frame, type ModelPath } from "./model-state.fixture.ts";

/**
 * Holds ready paths again if their milestone is no longer true, and makes held paths ready if they may go on ("Cancels, mutexes and
 * milestones"). True if any path changed.
 */
export function settleHolds(frame: Frame): boolean {
  const paths = frame.scope.paths.toSorted(byAge);
  const withdrawn = paths.filter((path) => path.status === "ready" && !path.touched && !milestoneHolds(frame, path));
  for (const path of withdrawn) path.status = "held";
  const released = paths.filter((path) => {
    if (path.status !== "held" || !milestoneHolds(frame, path) || mutexTaken(frame, path)) return false;
    path.status = "ready";
    return true;
  });
  return withdrawn.length + released.length > 0;
}

/** True if a path at a node with a mutex has the mutex. A path that is held again keeps the mutex if its task was offered before. */
function holdsMutex(path: ModelPath): boolean {
  const { status } = path;
  return status === "ready" || status === "retrying" || status === "suspended" || (status === "held" && path.offered);
}

function mutexTaken(frame: Frame, path: ModelPath): boolean {
  const { mutex } = nodeOf(frame.definition, path.nodeId);
  if (mutex === undefined) return false;
  return frame.scope.paths.some((other) => other !== path && nodeOf(frame.definition, other.nodeId).mutex === mutex && holdsMutex(other));
}

function milestoneHolds(frame: Frame, path: ModelPath): boolean {
  const { when } = nodeOf(frame.definition, path.nodeId);
  return when === undefined || holds(frame, when);
}

function holds(frame: Frame, when: ModelWhen): boolean {
  if ("at" in when) return frame.scope.paths.some((path) => path.nodeId === when.at && path.status !== "joining" && !path.draining);
  return (frame.scope.done[when.done] ?? 0) >= when.times;
}
