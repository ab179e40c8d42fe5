import type { EpochMs } from "../../../core/values/json.ts";
import type { Rate } from "../../../core/values/shared-keys.ts";
import { unlimited } from "./present-rates.ts";
import type { PlannedClaim } from "./take-executions.ts";

/** The state of one rate: the JSON in its record. */
export interface RateState {
  /** The times of the last `limit` first claims, in order. */
  readonly grants: readonly EpochMs[];
  /** First claims that are being made. */
  readonly pending: readonly PendingClaim[];
  /** The last places given: to an execution that had no place yet, and to one that had a place but came too early. */
  readonly lastPlaces: readonly [EpochMs, EpochMs];
  /** The highest limit and the longest period (with the skew of clocks) that any claim has used, so that enough times are kept. */
  readonly limit: number;
  readonly periodMs: number;
}

export interface PendingClaim {
  readonly id: string;
  readonly incarnation: string;
  /** The fence of the claim. */
  readonly fence: number;
  /** The time by which the claim must be made. After it, the process that wrote this entry counts as gone. */
  readonly until: EpochMs;
}

/** An execution that waits for its first claim. */
export interface Candidate {
  readonly planned: PlannedClaim;
  readonly rate: Rate;
  /** The time at which it leaves the line to end; see `PresentRate`. */
  readonly waitsUntil: EpochMs;
  /** The permit key in its row. */
  readonly rowKey: string;
  /** True: the execution is not due yet. It is considered because there may be room for it before its time. */
  readonly isAhead: boolean;
}

/** How many executions may be claimed for each permit key in their rows. Executions of one rate may have different ones. */
export type Rooms = ReadonlyMap<string, number>;

/** The beginning of a line. */
export interface Candidates {
  readonly candidates: readonly Candidate[];
  /** True: no other execution in the line comes before the last candidate. */
  readonly isWhole: boolean;
}

/** A new due time for a waiting execution. */
export interface Reschedule {
  readonly planned: PlannedClaim;
  readonly dueAt: EpochMs;
  /** True: it is the first in the line. It must be due by `dueAt`, because otherwise no claim might look at the line. */
  readonly isFirst: boolean;
}

/** The decision about candidates, and the new state of their rate. */
interface Decision {
  readonly granted: readonly PlannedClaim[];
  /** Executions that get another due time: a later one, or an earlier one if there is room before their place. */
  readonly rescheduled: readonly Reschedule[];
  readonly state: RateState;
}

/** The time in which a process must make a granted claim. */
const noticeMs = 10_000;

/** The values that a decision needs in addition to the candidates. */
interface DecisionTerms {
  readonly now: EpochMs;
  readonly rooms: Rooms;
  readonly skewMs: number;
  /** True: only the execution that was asked for by its id may be claimed. */
  readonly isOnlyAsked: boolean;
}

/**
 * Decides which candidates are claimed now and which get another due time, in their order. One whose place comes after its deadline is due at
 * its deadline; its place stays the later one.
 */
export function decideRates(
  before: RateState,
  { candidates, isWhole }: Candidates,
  { now, rooms, skewMs, isOnlyAsked }: DecisionTerms,
): Decision {
  const left = new Map(rooms);
  const granted: PlannedClaim[] = [];
  const rescheduled: Reschedule[] = [];
  const places: [EpochMs, EpochMs] = [...before.lastPlaces];
  const times = timesIn(before, now);
  // the first execution that is left becomes due when there is room for it; the claim that then reads it also considers those behind it
  let isLookedAt = false;
  for (const { planned, rate, waitsUntil, rowKey, isAhead } of candidates) {
    const room = left.get(rowKey)!;
    const dueAt = freeAt(times, rate, skewMs, now);
    const isBehind = isNew(planned) && !isWhole && places[0] > now;
    if (dueAt <= now && !isBehind) {
      const isTaken = room > 0 && !(isAhead && isOnlyAsked);
      if (isTaken) left.set(rowKey, room - 1);
      if (isTaken) granted.push(planned);
      else if (isAhead && !isLookedAt) rescheduled.push({ planned, dueAt: now, isFirst: true });
      isLookedAt ||= !isTaken;
      times.push(now);
    } else if (!isLookedAt && !isBehind) {
      if (!isAhead || planned.guard.dueAt! > dueAt) rescheduled.push({ planned, dueAt: Math.min(dueAt, waitsUntil), isFirst: true });
      places[0] = Math.max(places[0], dueAt);
      isLookedAt = true;
    } else if (!isAhead) {
      const which = isNew(planned) ? 0 : 1;
      places[which] = Math.ceil(Math.max(dueAt, places[which] + (rate.periodMs + skewMs) / rate.limit));
      rescheduled.push({ planned, dueAt: Math.min(places[which], waitsUntil), isFirst: false });
    }
  }
  const until = now + noticeMs;
  const added = granted.map(({ guard: { id, incarnation }, fence }) => ({ id, incarnation, fence, until }));
  const limit = Math.max(before.limit, ...candidates.flatMap(({ rate }) => (rate.limit < unlimited ? rate.limit : [])));
  const periodMs = Math.max(before.periodMs, ...candidates.map(({ rate }) => rate.periodMs + skewMs));
  const state = { ...before, pending: [...before.pending, ...added], lastPlaces: places, limit, periodMs };
  return { granted, rescheduled, state };
}

/** Returns the times of first claims. Pending claims count as made now. */
export function timesIn({ grants, pending }: RateState, now: EpochMs): EpochMs[] {
  return [...grants, ...pending.map(() => now)];
}

/** Returns when the rate allows one more first claim. */
export function freeAt(times: readonly EpochMs[], { limit, periodMs }: Rate, skewMs: number, now: EpochMs): EpochMs {
  return times.length < limit ? now : Math.max(now, times.at(-limit)! + periodMs + skewMs);
}

/** Returns true if the execution has no place in the line yet: a place raises its fence above 0. */
function isNew({ guard }: PlannedClaim): boolean {
  return guard.fence === 0;
}

/** Sorts executions with a place first, and each group by creation, not by due time: due times may have been moved. */
export function compareCandidates({ planned: a }: Candidate, { planned: b }: Candidate): number {
  return Number(isNew(a)) - Number(isNew(b)) || a.guard.seq - b.guard.seq;
}

/** Returns the time from which the record of a rate limits no claim any more. */
export function limitsUntil({ grants, pending, lastPlaces, periodMs }: RateState): EpochMs {
  return Math.max(...lastPlaces, (grants.at(-1) ?? 0) + periodMs, ...pending.map(({ until }) => until));
}
