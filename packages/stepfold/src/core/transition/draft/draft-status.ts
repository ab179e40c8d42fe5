import type { Event, ParkedEvent, UnparkedEvent } from "../../snapshot/event.ts";
import type { Wait } from "../../snapshot/parts/wait.ts";
import type { Ending, Parked, Status } from "../../snapshot/snapshot.ts";
import type { EpochMs } from "../../values/json.ts";
import { type ChildDraft, type Draft, isHeldUp, type ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";

/** Derives the status of a scope from its paths and their children: a ready one decides before a retrying one, else it is `paused`. */
export function statusOf(scope: ScopeDraft): Status {
  if (scope.ended) return scope.ended;
  if (scope.root.parked && scope.key === "") return "parked";
  // no path, but not ended: the end of the execution is decided, and messages must still be delivered
  if (scope.paths.length === 0) return "active";
  let status: Status = "paused";
  for (const { status: standing, children } of scope.paths) {
    if (standing === "ready" || (children && children.busy > children.retrying)) return "active";
    if (standing === "retrying" || (children && children.retrying > 0)) status = "error";
  }
  return status;
}

/** Returns the time at which an execution has to be driven next. 0: at once. Null: not before something comes from outside, or never. */
export function wakeAt(draft: Draft): EpochMs | null {
  if (draft.ended) return null;
  if (draft.parked) return draft.parked.until ?? null;
  if (draft.outbox.length > 0) return 0;
  let earliest = Math.min(wakeOf(draft.paths), deadlineIn(draft), draft.timers.first()?.at ?? Number.POSITIVE_INFINITY);
  for (const child of draft.awake) {
    if (earliest === 0) break;
    if (isHeldUp(child)) continue;
    earliest = Math.min(earliest, wakeOf(child.paths));
  }
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}

function wakeOf(paths: readonly DraftPath[]): EpochMs {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { status, nextRetryAt, waits } of paths) {
    if (status === "ready") return 0;
    if (status === "retrying") earliest = Math.min(earliest, nextRetryAt ?? 0);
    if (waits) earliest = Math.min(earliest, timerOf(waits));
  }
  return earliest;
}

/**
 * Returns the time of the next timer, retry or deadline of an execution, even if other steps are ready or running. Null if there is none,
 * or if the execution is parked or has ended.
 *
 * @param planned the time at which tasks were last planned. A retry that was due by then is already running, or waits for a free slot.
 */
export function nextTimerAt(draft: Draft, planned: EpochMs): EpochMs | null {
  if (draft.ended || draft.parked) return null;
  let earliest = Math.min(timeIn(draft.paths, planned), deadlineIn(draft), draft.timers.first()?.at ?? Number.POSITIVE_INFINITY);
  // children that are held up are not left out: they rarely have a pending retry, and its time then costs only a needless check
  for (const { paths } of draft.awake) earliest = Math.min(earliest, timeIn(paths, planned));
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}

function timeIn(paths: readonly DraftPath[], planned: EpochMs): EpochMs {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { status, waits, nextRetryAt } of paths) {
    if (waits) earliest = Math.min(earliest, timerOf(waits));
    if (status === "retrying" && nextRetryAt! > planned) earliest = Math.min(earliest, nextRetryAt!);
  }
  return earliest;
}

/** The fields from which the deadline of a scope follows. Snapshots and drafts both have them. */
interface Limited {
  readonly deadlineAt?: EpochMs | undefined;
  readonly ending?: Ending | undefined;
  readonly closing?: object | undefined;
}

/** Returns the time by which a scope must have ended. It is infinite if the scope has no deadline, or if its end is already decided. */
export function deadlineIn({ deadlineAt = Number.POSITIVE_INFINITY, ending, closing }: Limited): EpochMs {
  return ending || closing ? Number.POSITIVE_INFINITY : deadlineAt;
}

/** Returns the earlier of the first timer of the paths and the deadline of the scope; null if there is neither. */
export function earliestTime(scope: Limited, paths: Iterable<{ readonly waits?: readonly Wait[] | undefined }>): EpochMs | null {
  const earliest = Math.min(earliestTimer(paths) ?? Number.POSITIVE_INFINITY, deadlineIn(scope));
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}

/** Returns the earliest `resumeAt` or `timeoutAt` of the waits of these paths; null if there is none. */
export function earliestTimer(paths: Iterable<{ readonly waits?: readonly Wait[] | undefined }>): EpochMs | null {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { waits } of paths) if (waits) earliest = Math.min(earliest, timerOf(waits));
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}

function timerOf(waits: readonly Wait[]): EpochMs {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { resumeAt = earliest, timeoutAt = earliest } of waits) earliest = Math.min(earliest, resumeAt, timeoutAt);
  return earliest;
}

/** Updates what is counted of a child after a change: its status, its place in its map and in `awake`, and its earliest timer. */
export function updateCounters(child: ChildDraft): void {
  const { root } = child;
  const siblings = child.siblings!;
  const before = child.status;
  const after = statusOf(child);
  root.timers.set(child.key, child.ended ? null : earliestTime(child, child.paths));
  child.status = after;
  const busy = after === "active" || after === "error";
  const wasBusy = child.queued === null && (before === "active" || before === "error");
  // an item that has work again, but finds no place in its map, waits in the queue
  if (busy && !wasBusy && child.queued === null && siblings.map && siblings.busy >= siblings.map.concurrency) {
    child.queued = root.version + 1;
    siblings.queue.push(child.key);
  }
  if (child.queued !== null && !busy) {
    child.queued = null;
    siblings.queue.splice(siblings.queue.indexOf(child.key), 1);
  }
  const isBusy = busy && child.queued === null;
  if (isBusy) root.awake.add(child);
  else root.awake.delete(child);
  siblings.busy += Number(isBusy) - Number(wasBusy);
  siblings.retrying += Number(isBusy && after === "error") - Number(wasBusy && before === "error");
}

/** True while an execution is parked and its time (`until`) has not come. */
export function isParkedNow({ parked }: { readonly parked?: Parked | undefined }, now: EpochMs): boolean {
  return parked !== undefined && (parked.until === undefined || now < parked.until);
}

/** Returns the field `parked` of the head after an event `parked`. */
export function parkedBy({ code, message, at, until }: ParkedEvent): Parked {
  return Object.freeze({ code, message, at, ...(until !== undefined && { until }) });
}

/** Applies an event that parks an execution or ends the parking. Returns false if the execution is not parked and need not be unparked. */
export function park(draft: Draft, event: ParkedEvent | UnparkedEvent): boolean {
  if (event.type === "unparked" && !draft.parked) return false;
  draft.parked = event.type === "parked" ? parkedBy(event) : undefined;
  draft.results = [];
  draft.endedPaths = [];
  draft.version = event.version;
  return true;
}

/**
 * Whether an event ends the parking of an execution. Events that show that it is driven again do (such as a performed step), and so does
 * the cancellation of the whole execution. Answers and signals do not.
 */
export function endsParking(event: Event): boolean {
  switch (event.type) {
    case "completed":
    case "continued":
    case "failed":
    case "suspended":
    case "answerRefused":
    case "spawned":
    case "timedOut":
    case "expired":
    case "delivered":
      return true;
    case "resumed":
      return event.by === "timer";
    case "cancelled":
      return event.scope === undefined && event.pathIds === undefined;
    default:
      return false;
  }
}
