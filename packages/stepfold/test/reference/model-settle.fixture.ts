import { settleChildren } from "./model-children.fixture.ts";
import { breakCircle } from "./model-circles.fixture.ts";
import { beginEnding, hold, isTerminal } from "./model-endings.fixture.ts";
import { settleHolds } from "./model-holds.fixture.ts";
import { examine, unitsOf } from "./model-joins.fixture.ts";
import { resume } from "./model-moves.fixture.ts";
import { byAge, type Frame, frameOfChild, type ModelPath, type ModelStatus } from "./model-state.fixture.ts";

/** Settles a scope, its children first, until nothing changes; then derives its status ("Settling and status"). */
export function settle(frame: Frame): void {
  const { scope } = frame;
  if (isTerminal(scope.status)) return;
  for (let changed = true; changed && !scope.ending; ) {
    for (const child of scope.children) settle(frameOfChild(frame, child));
    const phases = [settleAllChildren, settleJoins, settleHolds, settleInbox];
    changed = phases.map((phase) => !scope.ending && phase(frame)).includes(true);
  }
  if (!scope.ending) endIfStuck(frame);
  const isParked = scope.status === "parked";
  scope.status = statusOf(frame);
  if (isParked && !isTerminal(scope.status)) scope.status = "parked";
  if (!frame.outer && isTerminal(scope.status) && hold(frame)) scope.status = "parked";
}

function settleAllChildren(frame: Frame): boolean {
  let changed = false;
  while (settleChildren(frame)) changed = true;
  return changed;
}

/** Examines joins in the order of `nodes`, again from the first after every change. When nothing changes, it breaks a circle. */
function settleJoins(frame: Frame): boolean {
  let changed = false;
  for (;;) {
    const fired = unitsOf(frame).some((unit) => examine(frame, unit));
    if (!fired && !breakCircle(frame)) return changed;
    changed = true;
  }
}

/** Gives one signal of the inbox to a wait that may read the inbox: the oldest path first, the earliest signal first. */
function settleInbox(frame: Frame): boolean {
  const { inbox } = frame.world;
  for (const path of frame.scope.paths.toSorted(byAge)) {
    const names = new Set(path.waits.filter((wait) => wait.kind === "signal" && !wait.transient).map((wait) => wait.signal));
    const taken = inbox.findIndex((name) => names.has(name));
    if (taken < 0) continue;
    inbox.splice(taken, 1);
    resume(path);
    return true;
  }
  return false;
}

/** The oldest path of this scope that waits for a signal that arrives now. Transient waits count too. */
export function waiterFor(frame: Frame, signal: string): ModelPath | undefined {
  return frame.scope.paths.toSorted(byAge).find((path) => path.waits.some((wait) => wait.kind === "signal" && wait.signal === signal));
}

/** Ends a scope in which no path can run or wait: with its first failure (`onFailure: "finish"`), or with STALLED. */
function endIfStuck(frame: Frame): void {
  const { paths, failure } = frame.scope;
  if (paths.some((path) => path.status !== "held" && path.status !== "joining")) return;
  if (failure) beginEnding(frame, "failed", failure);
  else if (paths.length > 0) beginEnding(frame, "failed", { code: "STALLED", nodeId: null });
}

function statusOf(frame: Frame): ModelStatus {
  const { ending, paths, children } = frame.scope;
  if (ending) return ending.undo.length === 0 ? ending.status : ending.running.status === "ready" ? "active" : "error";
  const below = children.map((child) => child.scope.status);
  if (below.includes("active") || paths.some((path) => path.status === "ready")) return "active";
  if (paths.some((path) => path.status === "retrying")) return "error";
  return paths.length > 0 ? "paused" : "completed";
}
