import type { RestartState } from "../snapshot/event.ts";
import { underNewKey } from "../snapshot/parts/acted.ts";
import type { Message } from "../snapshot/parts/message.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { ActivePath, ChildState, KeptSignal, Snapshot } from "../snapshot/snapshot.ts";
import { later, movedResumed, movedWait, withoutReferences } from "../transition/moved-waits.ts";
import type { EpochMs } from "../values/json.ts";

/** The message that takes over a detached execution; it names the wait for the end of that execution. */
export type Adoption = Omit<Extract<Message, { readonly type: "adopt" }>, "id">;

/** How the state of a restart follows from the execution that it opens again. */
export interface RestartTerms {
  /** The version that the restart makes. */
  readonly version: number;
  /** By how many milliseconds all times move, so that waits and retries keep the time that was left to them. */
  readonly laterMs: number;
  /** The detached executions for which steps go on to wait. The steps of all others begin anew, and start others. */
  readonly adopts: readonly Adoption[];
  /** By how much the names of steps, waits and forks are raised, because steps that were performed before are performed again; else 0. */
  readonly ahead: number;
}

/** Returns the state with which an execution goes on after a restart. `sizeBytes` is that of the execution. */
export function restartState(reopened: Snapshot, terms: RestartTerms): RestartState {
  const { childStates, mapItems, rounds, begun, closing, inbox, variables, sizeBytes } = reopened;
  const { adopts, version, laterMs } = terms;
  return Object.freeze({
    activePaths: reopened.activePaths.map((path) => movedPath(path, terms)),
    sizeBytes,
    ...(childStates && {
      childStates: Object.fromEntries(Object.entries(childStates).map(([key, child]) => [key, movedChild(child, terms)])),
    }),
    ...(mapItems && { mapItems }),
    ...(rounds && { rounds }),
    ...(begun && { begun }),
    ...(closing && { closing }),
    ...(inbox && { inbox: inbox.map((signal) => movedSignal(signal, laterMs)) }),
    ...(variables && { variables }),
    ...(adopts.length > 0 && { outbox: adopts.map((adopt, nth) => ({ id: `${version}.${nth}`, ...adopt })) }),
  });
}

function movedChild(child: ChildState, terms: RestartTerms): ChildState {
  const { inEvents: _, ...rest } = child;
  return childLater({ ...rest, activePaths: child.activePaths.map((path) => movedPath(path, terms)) }, terms.laterMs);
}

/** Moves the deadline of a child. */
export function childLater(child: ChildState, laterMs: number): ChildState {
  const { deadlineAt } = child;
  return deadlineAt === undefined ? child : { ...child, deadlineAt: later(deadlineAt, laterMs) };
}

function movedSignal(signal: KeptSignal, laterMs: number): KeptSignal {
  return { ...withoutReferences(signal), expiresAt: later(signal.expiresAt, laterMs) };
}

function movedPath(path: ActivePath, terms: RestartTerms): ActivePath {
  const { laterMs, ahead } = terms;
  if (path.waits?.some((wait) => !goesOn(wait, terms))) {
    const { waits, nextRetryAt: _, resumed: __, ...rest } = raised(path, ahead);
    const turn = rest.turn + 1;
    // the ids of detached executions are made of the visit, and those of deleted executions stay taken
    const isNewVisit = waits!.some(({ kind }) => kind === "child");
    return { ...(isNewVisit ? { ...underNewKey(rest), visit: turn } : rest), status: "ready", turn, attempts: 0 };
  }
  return pathLater(raised(path, ahead), laterMs);
}

/** Moves the times of a path, so that it keeps the time that is left to it. */
export function pathLater({ waits, nextRetryAt, resumed, ...rest }: ActivePath, laterMs: number): ActivePath {
  return {
    ...rest,
    ...(resumed && { resumed: movedResumed(resumed, laterMs) }),
    ...(nextRetryAt !== undefined && { nextRetryAt: later(nextRetryAt, laterMs) }),
    ...(waits && { waits: waits.map((wait) => movedWait(wait, laterMs)) }),
  };
}

/** A wait for a detached execution that is gone, or for the delivery of a signal, does not go on: its step is performed again. */
function goesOn({ kind, id }: Wait, { adopts }: RestartTerms): boolean {
  return kind === "child" ? adopts.some(({ waitId }) => waitId === id) : kind !== "delivery";
}

/**
 * By how much a restart that goes on at a version raises turns, visits and forks: steps after that version were performed before, so what they
 * are named by must not repeat. No event raises a turn by more than two. @param version the version that the restart makes
 */
export function aheadOf(version: number, since: number): number {
  return 2 * (version - since);
}

/** Raises what ids of waits, children and forks, and idempotency keys, are made of. The children of a path keep their key. */
export function raised(path: ActivePath, ahead: number): ActivePath {
  if (ahead === 0) return path;
  const [turn, forks] = [path.turn + ahead, (path.forks ?? 0) + ahead];
  const renamed = { ...underNewKey(path), turn, forks };
  if (!path.children) return { ...renamed, visit: turn };
  const { map } = path.children;
  return map ? { ...renamed, children: { ...path.children, map: { ...map, ahead: (map.ahead ?? 0) + ahead } } } : renamed;
}

/** By how much time has passed since a moment; 0 if that is in the future, because clocks differ. */
export function passedMs(since: EpochMs, now: EpochMs): number {
  return Math.max(0, now - since);
}
