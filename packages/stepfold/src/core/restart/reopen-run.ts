import { childKey, parentKey, scopedKey } from "../snapshot/address.ts";
import type { FailedEvent, RestartedEvent, SuspendedEvent } from "../snapshot/event.ts";
import { underNewKey } from "../snapshot/parts/acted.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import { type ActivePath, type ChildState, isTerminal, type Snapshot } from "../snapshot/snapshot.ts";
import { deadlineIn } from "../transition/draft/draft-status.ts";
import { childBytes, sizeOfHeld } from "../transition/draft/result-size.ts";
import { type EpochMs, isJsonObject } from "../values/json.ts";
import { type FailedAt, findFailures } from "./find-failures.ts";
import { type OpenedPart, type OpenedRun, openedParts } from "./opened-parts.ts";
import { aheadOf, childLater, passedMs, pathLater, raised } from "./restart-state.ts";
import { type RunHistory, replay } from "./run-history.ts";
import { withReadableValues } from "./values-of-run.ts";

/** An execution as it goes on after a restart, with all times as they were when its end was decided. */
export interface Reopened {
  readonly snapshot: Snapshot;
  /** When the end was decided: all times move by what has passed since. */
  readonly leftAt: EpochMs;
}

/**
 * Opens again what has failed in a run: the steps that failed have all their attempts again, waits that timed out have their whole time
 * again, and paths, joins and outputs that failed without a step stand before they are judged. Of a map that failed, every item that failed
 * is open again. Completed steps and items keep their results. Null if the end of the execution is not decided.
 *
 * @param newKeys the steps that failed are performed at a new visit, so under new idempotency keys
 */
export function reopenRun(history: RunHistory, newKeys: boolean): Reopened | null {
  const failures = findFailures(history);
  if (!failures.end) return null;
  const opened = openedParts(history, failures);
  const state = new ReopenedState(history, opened, newKeys);
  if (!failures.inFinally) state.reopen(failures.end);
  else state.performAgain(failures.end);
  const { inbox: _, ...snapshot } = withReadableValues(history, withWholeDeadlines(history, state.snapshot(), opened.leftAt));
  // signals that came, and were not taken, while the execution ended are there too
  return { snapshot: { ...snapshot, ...(failures.inbox.length > 0 && { inbox: failures.inbox }) }, leftAt: opened.leftAt };
}

/**
 * Opens a run again as it was at a version. What had failed before, and has made the run or a child fail only later, is open again too: else
 * it would do so again.
 *
 * @param version a version before the one by which the end was decided
 */
export function reopenEarlier(history: RunHistory, version: number): Reopened {
  const { end, children } = findFailures(history);
  const [first, ...others] = history.events;
  const later = others.findIndex((event) => event.version > version);
  const past: RunHistory = { ...history, events: [first, ...others.slice(0, later)] };
  const state = new ReopenedState(past, openedParts(past, findFailures(past)), false);
  state.reopenCauses([end!, ...children.values()]);
  return { snapshot: withReadableValues(past, state.snapshot()), leftAt: others[later]!.at };
}

/** The scopes of an execution, while failed parts are put back. */
class ReopenedState {
  readonly #opened: OpenedRun;
  readonly #newKeys: boolean;
  readonly #suspended = new Map<string, SuspendedEvent>();
  readonly #restarts: RestartedEvent[] = [];
  readonly #children: Map<string, ChildState>;
  readonly #mapItems: Map<string, NonNullable<Snapshot["mapItems"]>[string]>;
  /** The scopes in which something was opened again, and those around them. */
  readonly #awake = new Set<string>([""]);
  #paths: readonly ActivePath[];
  #sizeBytes: number;

  constructor({ events }: RunHistory, opened: OpenedRun, newKeys: boolean) {
    const { activePaths, childStates = {}, mapItems = {}, sizeBytes } = opened.base;
    for (const event of events) {
      if (event.type === "suspended") this.#suspended.set(scopedKey(event.scope ?? "", event.pathId), event);
      else if (event.type === "restarted") this.#restarts.push(event);
    }
    this.#opened = opened;
    this.#newKeys = newKeys;
    this.#paths = activePaths;
    this.#children = new Map(Object.entries(childStates));
    this.#mapItems = new Map(Object.entries(mapItems));
    this.#sizeBytes = sizeBytes;
  }

  /** Opens what has decided the end, and everything that failed before it in scopes that are open. */
  reopen(end: FailedAt): void {
    this.performAgain(end);
    this.#reopenChildren(end);
    this.#putBackPaths();
  }

  /** Opens what had failed before, and has made code fail only later, and everything that had failed in other scopes that went on. */
  reopenCauses(later: readonly FailedAt[]): void {
    for (const { event } of later) if (event.type === "failed") this.#putBackThrown(event);
    this.#putBackPaths();
  }

  #putBackPaths(): void {
    for (let last = -1; last !== this.#awake.size + this.#children.size; ) {
      last = this.#awake.size + this.#children.size;
      for (const part of this.#opened.finishing) if (!part.failed.isOfCode) this.#putBackPath(part);
    }
  }

  /** Lets the step that has failed by an event be performed again; of code that has failed, the step whose error it has thrown too. */
  performAgain({ event, scope, isDirect }: FailedAt): void {
    if (!isDirect || !("pathId" in event)) return;
    if (event.type === "failed") this.#putBackThrown(event);
    this.#setPaths(
      scope,
      this.#pathsOf(scope).map((path) => (path.id === event.pathId ? this.#anew(scope, path) : path)),
    );
    this.#wake(scope);
  }

  snapshot(): Snapshot {
    const { base } = this.#opened;
    const { error: _, childStates: __, mapItems: ___, ...rest } = base;
    for (const key of this.#awake) {
      const child = this.#children.get(key);
      if (!child) continue;
      const { error: ____, ...open } = child;
      this.#children.set(key, { ...open, status: "active", currentNodeId: child.activePaths[0]?.nodeId ?? null });
    }
    return {
      ...rest,
      status: "active",
      currentNodeId: this.#paths[0]?.nodeId ?? null,
      activePaths: this.#paths,
      sizeBytes: this.#sizeBytes,
      ...(this.#children.size > 0 && { childStates: Object.fromEntries(this.#children) }),
      ...(this.#mapItems.size > 0 && { mapItems: Object.fromEntries(this.#mapItems) }),
    };
  }

  /**
   * Puts the step back whose error the code of a scope has thrown: the error names its node. If several steps of this name have failed, it is
   * the latest one with the same message, else the latest one.
   */
  #putBackThrown({ scope = "", nodeId, error }: FailedEvent): void {
    if (error.nodeId === undefined || error.nodeId === nodeId) return;
    const steps = this.#opened.finishing.filter(
      ({ failed, path }) => failed.isOfCode && failed.scope === scope && path!.nodeId === error.nodeId,
    );
    const isSame = ({ failed: { event } }: OpenedPart): boolean => "error" in event && event.error.message === error.message;
    const thrown = steps.findLast(isSame) ?? steps.at(-1);
    if (thrown) this.#putBackPath(thrown);
  }

  /** Puts a path back that failed while its scope went on, with its children. */
  #putBackPath(part: OpenedPart): void {
    const { failed, path } = part;
    const { scope } = failed;
    if (!this.#isOpen(scope) || this.#pathsOf(scope).some(({ id }) => id === path!.id)) return;
    const key = path!.children?.key;
    // a path that only waits until its children have ended makes way for the one that waits for their results
    const others = this.#pathsOf(scope).filter(({ draining, children }) => !(draining && children!.key === key));
    this.#setPaths(scope, [...others, this.#sinceThen(part)(path!)]);
    this.#wake(scope);
    this.#putBackChildren(part);
    this.performAgain(failed);
    this.#reopenChildren(failed);
  }

  /** Opens every child again that has failed in the paths that have failed: of a map also the tolerated items. */
  #reopenChildren({ scope, pathIds }: FailedAt): void {
    const failed = this.#pathsOf(scope).filter(({ id }) => pathIds.includes(id));
    for (const { id, children } of failed) {
      if (!children) continue;
      const { key: group, map } = children;
      if (!map) {
        this.#reopenChild(childKey(scope, group, null));
        continue;
      }
      let reopened = 0;
      for (let item = 0; item < map.next; item++) reopened += this.#reopenItem(childKey(scope, group, item));
      const counted = { ...children, map: { ...map, failed: map.failed - reopened } };
      this.#setPaths(
        scope,
        this.#pathsOf(scope).map((path) => (path.id === id ? { ...path, children: counted } : path)),
      );
    }
  }

  /** Opens an item again that has failed, or whose failure is decided. Returns by how many its map has counted as failed. */
  #reopenItem(key: string): 0 | 1 {
    const item = this.#children.get(key);
    const isCounted = item?.status === "failed";
    if (!(isCounted || item?.ending?.status === "failed") || !this.#reopenChild(key)) return 0;
    // they begin one after the other, as far as the map allows it
    const queued = this.#opened.children.get(key)!.failed.event.version;
    this.#children.set(key, { ...this.#children.get(key)!, queued });
    return isCounted ? 1 : 0;
  }

  #reopenChild(key: string): boolean {
    const part = this.#opened.children.get(key);
    const child = this.#children.get(key);
    if (!part || !(child?.ending || child?.status === "failed" || child?.status === "cancelled")) return false;
    this.#putBackChildren(part);
    this.performAgain(part.failed);
    this.#reopenChildren(part.failed);
    this.#wake(key);
    return true;
  }

  #putBackChildren(part: OpenedPart): void {
    const laterMs = this.#laterMs(part);
    for (const [key, before] of part.children) {
      const child = childLater({ ...before, activePaths: before.activePaths.map(this.#sinceThen(part)) }, laterMs);
      const present = this.#children.get(key);
      this.#sizeBytes += sizeOfHeld(child) + (present ? -sizeOfHeld(present) : childBytes);
      this.#children.set(key, child);
    }
    for (const [key, items] of part.mapItems) this.#mapItems.set(key, items);
  }

  /** Returns how a path of a part is now: restarts have raised it since the part has failed, and the time that was left to it is still left. */
  #sinceThen(part: OpenedPart): (path: ActivePath) => ActivePath {
    const later = this.#restarts.filter(({ version }) => version > part.failed.event.version);
    const ahead = later.reduce((sum, { version, since }) => sum + (since === undefined ? 0 : aheadOf(version, since)), 0);
    return (path) => pathLater(raised(path, ahead), this.#laterMs(part));
  }

  #laterMs({ failed: { event } }: OpenedPart): number {
    return passedMs(event.at, this.#opened.leftAt);
  }

  /** Returns a path whose step or wait has failed, as it begins again. */
  #anew(scope: string, path: ActivePath): ActivePath {
    const at = this.#opened.leftAt;
    const { nextRetryAt: _, ...kept } = path;
    const suspension = hasFailedChild(path) ? this.#suspended.get(scopedKey(scope, path.id)) : undefined;
    if (suspension) {
      const { resumed: __, ...waiting } = kept;
      return { ...waiting, status: "suspended", turn: path.turn + 1, attempts: 0, waits: wholeAt(suspension.waits, at) };
    }
    if (path.waits) return { ...kept, waits: wholeAt(path.waits, at) };
    const turn = path.turn + 1;
    return { ...(this.#newKeys ? { ...underNewKey(kept), visit: turn } : kept), status: "ready", turn, attempts: 0 };
  }

  #isOpen(scope: string): boolean {
    const child = this.#children.get(scope);
    return scope === "" || (child !== undefined && !isTerminal(child.status));
  }

  #pathsOf(scope: string): readonly ActivePath[] {
    return scope === "" ? this.#paths : this.#children.get(scope)!.activePaths;
  }

  #setPaths(scope: string, activePaths: readonly ActivePath[]): void {
    if (scope === "") this.#paths = activePaths;
    else this.#children.set(scope, { ...this.#children.get(scope)!, activePaths });
  }

  #wake(scope: string): void {
    for (let key = scope; key !== ""; key = parentKey(key)) this.#awake.add(key);
  }
}

/** Whether a path goes on because a detached execution that it waited for has failed or was cancelled. */
function hasFailedChild({ resumed }: ActivePath): boolean {
  return resumed?.by === "child" && isJsonObject(resumed.payload) && resumed.payload.status !== "completed";
}

/** Returns waits that begin at a time: they have their whole time again. */
function wholeAt(waits: readonly Wait[], at: EpochMs): Wait[] {
  return waits.map(({ openedAt = at, resumeAt, timeoutAt, ...wait }) => ({
    ...wait,
    openedAt: at,
    ...(resumeAt !== undefined && { resumeAt: resumeAt + at - openedAt }),
    ...(timeoutAt !== undefined && { timeoutAt: timeoutAt + at - openedAt }),
  }));
}

/** Gives children whose deadlines had passed their whole time again. */
function withWholeDeadlines(history: RunHistory, snapshot: Snapshot, at: EpochMs): Snapshot {
  const { childStates = {} } = snapshot;
  const late = new Set(Object.entries(childStates).flatMap(([key, child]) => (deadlineIn(child) <= at ? [key] : [])));
  if (late.size === 0) return snapshot;
  const wholeMs = new Map<string, number>();
  replay(history, {
    after({ children }, event) {
      for (const key of late) {
        const { deadlineAt } = children.get(key) ?? {};
        if (deadlineAt != null && (event.type === "restarted" || !wholeMs.has(key))) wholeMs.set(key, deadlineAt - event.at);
      }
    },
  });
  const whole = [...late].map((key) => [key, { ...childStates[key]!, deadlineAt: at + wholeMs.get(key)! }] as const);
  return { ...snapshot, childStates: { ...childStates, ...Object.fromEntries(whole) } };
}
