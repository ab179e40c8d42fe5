import type { Event, Snapshot } from "stepfold/core";
import { countUpTo } from "./count-up-to.ts";
import type { StoppedVisit } from "./execution-state.ts";
import { isEnding } from "./report-state.ts";

/** The most restarts whose stops are found: each costs a few versions. */
const maxRestarts = 20;

/**
 * Finds what was under way at the nodes of an execution when its end was decided. The events do not say it, because a step that runs has no event
 * of its own: the state before the end does.
 */
export class StopFinder {
  readonly #events: readonly Event[];
  readonly #snapshotAt: (version: number) => Snapshot | null;
  /** The places of the events with which a run or a restart begins. */
  readonly #begins: number[] = [];
  /** The place of the event that decided the end, by the place of the event before it that began. */
  readonly #ends = new Map<number, number>();
  readonly #stopped = new Map<number, readonly StoppedVisit[]>();
  #seen = 0;

  /** @param events all events, which grow in place */
  constructor(events: readonly Event[], snapshotAt: (version: number) => Snapshot | null) {
    [this.#events, this.#snapshotAt] = [events, snapshotAt];
  }

  /** Returns the visits that were stopped up to an event whose state is an end, or before restarts. @param count the number of events up to it */
  stopped(count: number, hasEnded: boolean): readonly StoppedVisit[] {
    for (; this.#seen < this.#events.length; this.#seen++) if (isBegin(this.#events[this.#seen]!)) this.#begins.push(this.#seen);
    const begins = this.#begins.slice(0, countBefore(this.#begins, count));
    const found: StoppedVisit[] = [];
    for (const [index, begin] of begins.entries()) {
      if (index < begins.length - maxRestarts) continue;
      const next = begins[index + 1];
      // a run that goes on as the next one was not stopped
      const isStopped = next === undefined ? hasEnded : this.#events[next]!.type === "restarted";
      if (isStopped) found.push(...this.#stoppedIn(begin, (next ?? count) - 1));
    }
    return found;
  }

  #stoppedIn(begin: number, last: number): readonly StoppedVisit[] {
    const known = this.#ends.get(begin);
    const end = known !== undefined && known <= last ? known : this.#endIn(begin, last);
    if (end === null) return [];
    this.#ends.set(begin, end);
    const before = this.#stopped.get(end) ?? this.#stoppedAt(end);
    this.#stopped.set(end, before);
    return before;
  }

  /** The place of the first event after which the end is decided; null if that cannot be told. */
  #endIn(begin: number, last: number): number | null {
    let [open, ended] = [begin, last];
    if (!this.#hasEnded(ended)) return null;
    // mostly nothing is undone, and the last event has decided it
    if (ended - 1 > open && !this.#hasEnded(ended - 1)) return ended;
    while (ended - open > 1) {
      const middle = (open + ended) >> 1;
      if (this.#hasEnded(middle)) ended = middle;
      else open = middle;
    }
    return ended;
  }

  #hasEnded(index: number): boolean {
    const snapshot = this.#snapshotAt(this.#events[index]!.version);
    return snapshot !== null && isEnding(snapshot);
  }

  #stoppedAt(end: number): readonly StoppedVisit[] {
    const event = this.#events[end]!;
    const before = end === 0 ? null : this.#snapshotAt(this.#events[end - 1]!.version);
    const done = new Set([...ownPath(event), ...resultPaths(event)]);
    const visits: StoppedVisit[] = [];
    for (const { id, nodeId, status, since, undoes, draining } of before?.activePaths ?? []) {
      if (done.has(id) || undoes || draining || status === "joining") continue;
      const from = this.#events[countUpTo(this.#events, since) - 1]?.at ?? event.at;
      visits.push({ nodeId, from: Math.min(from, event.at), to: event.at, ran: status === "ready" });
    }
    return visits;
  }
}

function isBegin({ type }: Event): boolean {
  return type === "started" || type === "continued" || type === "restarted";
}

function countBefore(places: readonly number[], count: number): number {
  const index = places.findIndex((place) => place >= count);
  return index < 0 ? places.length : index;
}

function ownPath(event: Event): readonly string[] {
  return "pathId" in event && event.scope === undefined ? [event.pathId] : [];
}

function resultPaths({ consequences }: Event): readonly string[] {
  return (consequences?.results ?? []).filter(({ scope }) => scope === undefined).map(({ result }) => result.pathId);
}
