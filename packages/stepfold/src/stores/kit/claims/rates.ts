import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Rate } from "../../../core/values/shared-keys.ts";
import type { CheckedClaim } from "../checked-store.ts";
import type { ExecutionGuard, ExecutionTable, ListedRow } from "../execution-table.ts";
import { maxAnswerMs } from "../no-answer.ts";
import type { StoredRecord } from "../record-table.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { attemptOf, liveGuard } from "./guard.ts";
import { rateKeyOf, waitsForRate } from "./rate-key.ts";
import { type PlannedClaim, plannedClaim, type Taken } from "./take-executions.ts";

/** Executions with one key that wait for their first claim, and how many of them there is room for. */
export interface RateAsk {
  /** By which they are found. */
  readonly rowKey: string;
  /** Longest due first. */
  readonly waiting: readonly PlannedClaim[];
  readonly room: number;
}

/** A first claim that may be made now. */
export interface RateGrant {
  readonly planned: PlannedClaim;
  /** The record that counts it; null: none does, because nothing is known of its rate. */
  readonly key: string | null;
}

/** What is known of one rate: its record, as JSON. */
interface RateState {
  /** When the last first claims were made, in order: as many as `limit`. */
  readonly grants: readonly EpochMs[];
  /** First claims that are being made. */
  readonly pending: readonly PendingClaim[];
  /** The time that was given last to one that came, and to one that came back because it was too early. */
  readonly lastPlaces: readonly [EpochMs, EpochMs];
  /** The highest limit, and the longest period, that somebody went by. */
  readonly limit: number;
  readonly periodMs: number;
}

interface PendingClaim {
  readonly id: string;
  readonly incarnation: string;
  /** Of the claim. */
  readonly fence: number;
  /** If it was not made until then, the process that wanted to make it is gone. */
  readonly until: EpochMs;
}

/** One that waits for its first claim. */
interface Candidate {
  readonly planned: PlannedClaim;
  readonly rate: Rate;
  /** It was not asked for: its time has not come. */
  readonly isAhead: boolean;
}

/** Candidates of one rate. */
interface Group {
  readonly key: string;
  readonly candidates: readonly Candidate[];
  readonly rowKey: string;
  readonly room: number;
}

/** The beginning of a line. */
interface Candidates {
  readonly candidates: readonly Candidate[];
  /** Nobody else stands before the last of them. */
  readonly isWhole: boolean;
}

/** Another time for one that waits. */
interface Move {
  readonly planned: PlannedClaim;
  readonly dueAt: EpochMs;
  /** It stands before all others: if it were not due at that time, nobody might look at them. */
  readonly isFirst: boolean;
}

/** What becomes of candidates, and the record that says so. */
interface Decision {
  readonly granted: readonly PlannedClaim[];
  /** Those that get another time: a later one, or now. */
  readonly moved: readonly Move[];
  readonly state: RateState;
}

const noState: RateState = { grants: [], pending: [], lastPlaces: [0, 0], limit: 0, periodMs: 0 };

/** How long a process has to make a claim that was granted. */
const noticeMs = 10_000;

/** By so much the clocks of processes may differ, where the store has none: periods are longer by that. */
const clockSkewMs = 1_000;

/** Of a rate whose workflow has none any more. */
const unlimited = Number.POSITIVE_INFINITY;

/** Later than any place in a line. */
const everMs = 2 ** 42;

/** Of those before a candidate, so many are looked at: more than one claim takes, so that the next one finds one that is due. */
const maxAhead = 40;

/** Rows of a key that are looked at for that, at most. */
const maxLooked = 5_000;

/** How often a record is tried that others write in the same moment. */
const maxTries = 100;

/**
 * Rates: of the executions with one key, at most `limit` are claimed for the first time in any `periodMs`. This is exact, however many
 * processes claim, as far as they have one clock.
 *
 * Until its first claim an execution lies in the line of its rate: its row is held by that line (`rateOwner`), and no process. A record for
 * each key has the times of the last first claims. To claim the first time works in this order:
 *
 * 1. What would be too early gets its place in the line as `dueAt`: the next free time, behind all that have one. So nobody looks at it
 *    before.
 * 2. What may be claimed now is added to the record as pending, which is written only if no other process has written it since it was
 *    read. As long as it is pending, it counts as claimed just now.
 * 3. It is claimed; the record gets the time of the claim instead, by the store's clock.
 *
 * A process that dies between 2 and 3 leaves a pending claim: after `noticeMs` its fence is raised, so that the claim cannot be made any
 * more; if it was made, it counts from then on.
 *
 * Where there is room although others have later places (the limit was raised, or some were cancelled), those are taken before
 * their time; the first of them that is left becomes due when there is room for it. A claim that was granted, and that another process was
 * first to make, gives its room back: then the first one becomes due at once.
 */
export class Rates {
  readonly #table: ExecutionTable;
  readonly #writer: RowWriter;
  readonly #skewMs: number;

  constructor(table: ExecutionTable, writer: RowWriter) {
    this.#table = table;
    this.#writer = writer;
    this.#skewMs = table.features.clock === "caller" ? clockSkewMs : 0;
  }

  /** Those that may be claimed now; the others have got a later time. All of them are to be settled. */
  async grant(asks: readonly RateAsk[], options: CheckedClaim): Promise<readonly RateGrant[]> {
    const waiting = asks.flatMap((ask) => ask.waiting.map((planned) => ({ planned, ask })));
    if (waiting.length === 0) return [];
    const rates = await this.#ratesOf(
      waiting.map(({ planned }) => planned.guard),
      options,
    );
    const granted: RateGrant[] = [];
    const groups = new Map<string, Group>();
    for (const { planned, ask } of waiting) {
      const rate = rates.get(planned.guard.id);
      // it is gone
      if (rate === undefined) continue;
      if (rate === null) {
        granted.push({ planned, key: null });
        continue;
      }
      const key = rateKeyOf(rate);
      const group = groups.get(key) ?? { key, candidates: [], rowKey: ask.rowKey, room: 0 };
      const room = ask.rowKey === key ? ask.room : group.room + 1;
      groups.set(key, { ...group, candidates: [...group.candidates, { planned, rate, isAhead: false }], room });
    }
    for (const found of await Promise.all([...groups.values()].map((group) => this.#grantOf(group, options)))) granted.push(...found);
    return granted;
  }

  /** After claims were made, or not. */
  async settle(grants: readonly RateGrant[], { claimed }: Pick<Taken, "claimed">): Promise<void> {
    const times = new Map(claimed.map(({ workflowId, fence, claimedAt }) => [`${fence} ${workflowId}`, claimedAt]));
    const keys = [...new Set(grants.map(({ key }) => key))].filter((key) => key !== null);
    await Promise.all(
      keys.map(async (key) => {
        const own = grants.filter((grant) => grant.key === key);
        const isOwn = ({ id, fence }: PendingClaim): boolean =>
          own.some(({ planned }) => planned.guard.id === id && planned.fence === fence);
        for (let tries = 0; tries < maxTries; tries++) {
          const stored = (await this.#table.records.get("permit", [key])).get(key) ?? null;
          const state = stateIn(stored);
          // one that was pending for too long was counted by others
          const settled = state.pending.filter(isOwn);
          const made = settled.flatMap(({ id, fence }) => times.get(`${fence} ${id}`) ?? []);
          const pending = state.pending.filter((one) => !isOwn(one));
          if (settled.length === 0) return;
          const next = withGrants({ ...state, pending }, made);
          if (!(await this.#put(key, stored, next))) continue;
          if (made.length < settled.length) await this.#wake(key, next);
          return;
        }
      }),
    );
  }

  /** Deletes the records of rates that matter no more. */
  async forgetUnused(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const [records, { now }] = await Promise.all([this.#table.records.get("permit", lines), this.#table.read([])]);
    const unused = [...records.values()].filter((stored) => {
      const { grants, pending, lastPlaces, periodMs } = stateIn(stored);
      return pending.length === 0 && Math.max(...lastPlaces, (grants.at(-1) ?? 0) + periodMs) <= now;
    });
    const deletions = unused.map(({ key, revision }) => ({ key, expected: revision, next: null }));
    if (deletions.length > 0) await this.#table.records.put("permit", deletions);
  }

  /** The rates by which executions go now: null for one that has none. */
  async #ratesOf(guards: readonly ExecutionGuard[], { rates = {} }: CheckedClaim): Promise<ReadonlyMap<string, Rate | null>> {
    const rows = guards.length > 0 ? await this.#table.heads(guards.map(({ id }) => id)) : [];
    return new Map(
      rows.map((row) => {
        const { name, rate } = startOf(row);
        const current = name !== null && Object.hasOwn(rates, name) ? rates[name]! : rate;
        return [row.id, rate && { ...rate, ...(current ?? { limit: unlimited }) }];
      }),
    );
  }

  async #grantOf(group: Group, options: CheckedClaim): Promise<readonly RateGrant[]> {
    const { key, room } = group;
    const [records, { now }] = await Promise.all([this.#table.records.get("permit", [key]), this.#table.read([])]);
    const stored = records.get(key) ?? null;
    const state = await this.#withoutLost(stateIn(stored), now);
    const candidates = await this.#inOrder(group, state, now, options);
    // others are about to claim them
    if (candidates.candidates.length === 0) return [];
    const decision = decide(state, candidates, { now, room, skewMs: this.#skewMs, isOnlyAsked: options.workflowId !== undefined });
    // another process was first: it has claimed or moved some of these candidates
    if (!(await this.#put(key, stored, decision.state))) return [];
    await Promise.all(decision.moved.map((one) => this.#move(one, now)));
    return decision.granted.map((planned) => ({ planned, key }));
  }

  /** A state without the pending claims of processes that are gone. */
  async #withoutLost(state: RateState, now: EpochMs): Promise<RateState> {
    const late = state.pending.filter(({ until }) => until <= now);
    if (late.length === 0) return state;
    const { found } = await this.#table.read(late.map(({ id }) => id));
    const given: EpochMs[] = [];
    const kept: PendingClaim[] = [];
    for (const one of late) {
      const guard = liveGuard(found.get(one.id));
      const isSame = guard?.incarnation === one.incarnation;
      if (isSame && guard.fence < one.fence) {
        const when = { incarnation: guard.incarnation, fence: guard.fence, held: true };
        if (!(await this.#writer.write({ kind: "update", id: one.id, skipLocked: true, when, set: { fence: one.fence } }))) kept.push(one);
      } else if (!isSame || !waitsForRate(guard)) given.push(now);
    }
    const pending = [...state.pending.filter(({ until }) => until > now), ...kept];
    return withGrants({ ...state, pending }, given);
  }

  /** The candidates in order, with those that have a place in the line, although their time has not come. */
  async #inOrder({ candidates, rowKey, key }: Group, state: RateState, now: EpochMs, options: CheckedClaim): Promise<Candidates> {
    const { pending, lastPlaces } = state;
    const isKnown = (id: string): boolean =>
      pending.some((one) => one.id === id) || candidates.some(({ planned }) => planned.guard.id === id);
    const open = candidates.filter(({ planned }) => !pending.some(({ id }) => id === planned.guard.id));
    // a place is written as the time that is left until then, so it lies later by as much as its write takes
    const isEmpty = Math.max(...lastPlaces) + maxAnswerMs <= now;
    const times = timesIn(state, now);
    const isRoom = open.some(({ rate }) => freeAt(times, rate, this.#skewMs, now) <= now);
    // those that have a concurrency key too are found by that
    if (rowKey !== key || isEmpty || !isRoom) return { candidates: open.toSorted(compareCandidates), isWhole: isEmpty };
    const others = await this.#waitingOf(key, isKnown);
    const rates = await this.#ratesOf(others, options);
    const ahead = others.flatMap((guard): Candidate[] => {
      const rate = rates.get(guard.id);
      return rate && rateKeyOf(rate) === key ? [{ planned: plannedClaim(guard), rate, isAhead: true }] : [];
    });
    return { candidates: [...open, ...ahead].toSorted(compareCandidates), isWhole: true };
  }

  /** The first of a line, as many as one claim may take and one more, whatever else of the same key lies between them. */
  async #waitingOf(key: string, isKnown: (id: string) => boolean): Promise<readonly ExecutionGuard[]> {
    for (let limit = 2 * maxAhead; ; limit *= 4) {
      const { executions } = await this.#table.due({ keys: [key], limit, overdueMs: -everMs });
      const waiting = executions.filter((guard) => waitsForRate(guard) && !isKnown(guard.id)).slice(0, maxAhead);
      if (waiting.length === maxAhead || executions.length < limit || limit > maxLooked) return waiting;
    }
  }

  /** Gives one another time. If it has changed since it was read, that counts, unless it is the first one and would be due later. */
  async #move({ planned, dueAt, isFirst }: Move, now: EpochMs): Promise<void> {
    let { guard, fence } = planned;
    for (let tries = 0; tries < maxTries; tries++) {
      const { id, incarnation } = guard;
      const when = { incarnation, fence: guard.fence, held: true };
      if (await this.#writer.write({ kind: "update", id, skipLocked: true, when, set: { fence, due: { inMs: dueAt - now } } })) return;
      if (!isFirst) return;
      const changed = liveGuard((await this.#table.read([id])).found.get(id));
      if (!changed || !waitsForRate(changed) || changed.dueAt === null || changed.dueAt <= dueAt) return;
      // another transaction has locked its row: it keeps the time that it has
      if (attemptOf(changed) === attemptOf(guard)) return;
      ({ guard, fence } = plannedClaim(changed));
    }
  }

  /** After room came back: the first of a line is due now, although it was put off because there was none. */
  async #wake(key: string, { pending }: RateState): Promise<void> {
    const [first] = await this.#waitingOf(key, (id) => pending.some((one) => one.id === id));
    const { now } = await this.#table.read([]);
    if (first) await this.#move({ planned: plannedClaim(first), dueAt: now, isFirst: true }, now);
  }

  async #put(key: string, stored: StoredRecord | null, state: RateState): Promise<boolean> {
    const next = { revision: crypto.randomUUID(), text: JSON.stringify(state) };
    const [made] = await this.#table.records.put("permit", [{ key, expected: stored?.revision ?? null, next }]);
    return made!;
  }
}

/** The workflow and the rate that a row names. A damaged row has neither: it is claimed without a limit, and loading it reports the damage. */
function startOf({ definition, head }: ListedRow): { readonly name: string | null; readonly rate: Rate | null } {
  try {
    const { id } = JSON.parse(definition) as SnapshotHead["definition"];
    const { rate = null, unnamed } = JSON.parse(head) as Pick<SnapshotHead, "rate" | "unnamed">;
    return { name: unnamed ? null : id, rate };
  } catch {
    return { name: null, rate: null };
  }
}

/** For a decision. */
interface DecisionTerms {
  readonly now: EpochMs;
  readonly room: number;
  readonly skewMs: number;
  /** Only one may be claimed: it was asked for by its id. */
  readonly isOnlyAsked: boolean;
}

/** Decides about candidates in their order. */
function decide(before: RateState, { candidates, isWhole }: Candidates, { now, room, skewMs, isOnlyAsked }: DecisionTerms): Decision {
  const granted: PlannedClaim[] = [];
  const moved: Move[] = [];
  const places: [EpochMs, EpochMs] = [...before.lastPlaces];
  const times = timesIn(before, now);
  // the first execution that is left becomes due when there is room for it; the claim that then reads it also reads those behind it
  let isLookedAt = false;
  for (const { planned, rate, isAhead } of candidates) {
    const dueAt = freeAt(times, rate, skewMs, now);
    const isBehind = isNew(planned) && !isWhole && places[0] > now;
    if (dueAt <= now && !isBehind) {
      const isTaken = granted.length < room && !(isAhead && isOnlyAsked);
      if (isTaken) granted.push(planned);
      else if (isAhead && !isLookedAt) moved.push({ planned, dueAt: now, isFirst: true });
      isLookedAt ||= !isTaken;
      times.push(now);
    } else if (!isLookedAt && !isBehind) {
      if (!isAhead || planned.guard.dueAt! > dueAt) moved.push({ planned, dueAt, isFirst: true });
      places[0] = Math.max(places[0], dueAt);
      isLookedAt = true;
    } else if (!isAhead) {
      const which = isNew(planned) ? 0 : 1;
      places[which] = Math.ceil(Math.max(dueAt, places[which] + (rate.periodMs + skewMs) / rate.limit));
      moved.push({ planned, dueAt: places[which], isFirst: false });
    }
  }
  const until = now + noticeMs;
  const added = granted.map(({ guard: { id, incarnation }, fence }) => ({ id, incarnation, fence, until }));
  const limit = Math.max(before.limit, ...candidates.flatMap(({ rate }) => (rate.limit < unlimited ? rate.limit : [])));
  const periodMs = Math.max(before.periodMs, ...candidates.map(({ rate }) => rate.periodMs + skewMs));
  const state = { ...before, pending: [...before.pending, ...added], lastPlaces: places, limit, periodMs };
  return { granted, moved, state };
}

/** When executions were claimed for the first time; those that are being claimed count as claimed just now. */
function timesIn({ grants, pending }: RateState, now: EpochMs): EpochMs[] {
  return [...grants, ...pending.map(() => now)];
}

/** When there is room for one more. */
function freeAt(times: readonly EpochMs[], { limit, periodMs }: Rate, skewMs: number, now: EpochMs): EpochMs {
  return times.length < limit ? now : Math.max(now, times.at(-limit)! + periodMs + skewMs);
}

/** It has no place in the line yet. */
function isNew({ guard }: PlannedClaim): boolean {
  return guard.fence === 0;
}

/** Those that have a place come first; of these, and of the others, those that were made first: one that came back may have got a later time. */
function compareCandidates({ planned: a }: Candidate, { planned: b }: Candidate): number {
  return Number(isNew(a)) - Number(isNew(b)) || a.guard.seq - b.guard.seq;
}

function stateIn(stored: StoredRecord | null): RateState {
  return stored ? (JSON.parse(stored.text) as RateState) : noState;
}

function withGrants(state: RateState, given: readonly EpochMs[]): RateState {
  const grants = [...state.grants, ...given].sort((a, b) => a - b);
  return { ...state, grants: grants.slice(-state.limit) };
}
