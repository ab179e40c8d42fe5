import type { EpochMs } from "../../../core/values/json.ts";
import type { CheckedClaim } from "../checked-store.ts";
import type { ExecutionGuard } from "../execution-rows.ts";
import type { ExecutionTable } from "../execution-table.ts";
import { maxAnswerMs } from "../no-answer.ts";
import type { StoredRecord } from "../record-table.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import {
  type Candidate,
  type Candidates,
  compareCandidates,
  decideRates,
  freeAt,
  type PendingClaim,
  type RateState,
  type Reschedule,
  type Rooms,
  timesIn,
} from "./decide-rates.ts";
import { attemptOf, liveGuard } from "./guard.ts";
import { presentRates } from "./present-rates.ts";
import { rateKeyOf, waitsForRate } from "./rate-key.ts";
import { type PlannedClaim, plannedClaim, type Taken } from "./take-executions.ts";

/** Executions with one permit key that wait for their first claim. */
export interface RateAsk {
  /** The permit key in their rows: a concurrency key, or the key of the line of the rate. */
  readonly rowKey: string;
  /** Longest due first. At most `room` of them may be claimed. */
  readonly waiting: readonly PlannedClaim[];
  readonly room: number;
}

/** A first claim that may be made now. */
export interface RateGrant {
  readonly planned: PlannedClaim;
  /** The key of the record that counts the claim; null: not counted, because its row has no rate, or because the execution only ends. */
  readonly key: string | null;
  /** The line that the execution leaves without a counted claim; null: none. */
  readonly leaves: string | null;
}

/** Candidates of one rate. */
interface Group {
  readonly key: string;
  readonly candidates: readonly Candidate[];
  readonly rooms: Rooms;
}

const noState: RateState = { grants: [], pending: [], lastPlaces: [0, 0], limit: 0, periodMs: 0 };

/** The assumed largest difference between the clocks of processes. Periods are longer by this if the store has no clock of its own. */
const clockSkewMs = 1_000;

/** Longer than any wait in a line: with `overdueMs: -everMs` a table also returns executions that are not due yet. */
const everMs = 2 ** 42;

/** The most executions considered before their time: more than one claim takes, so that the first one left can be made due for the next. */
const maxAhead = 40;

/** The search for them ends once it has read more rows of a key than this. */
const maxLooked = 5_000;

/** How many times a write is tried if other processes keep changing the record first. */
const maxTries = 100;

/**
 * Rates: at most `limit` executions with the same rate key are claimed for the first time within any `periodMs`. This is exact for any
 * number of processes, if they use one clock.
 *
 * Until its first claim an execution waits in the line of its rate: the owner of its row is `rateOwner`, which is no process. A record for
 * each key holds the times of the last first claims. A first claim is made in this order:
 *
 * 1. An execution that comes too early gets a place in the line as its `dueAt`: the next free time after all places given so far. So no
 *    claim looks at it before.
 * 2. Executions that may be claimed now are added to the record as pending. The record is written only if no other process has written it
 *    since it was read. A pending claim counts as made just now.
 * 3. The execution is claimed. The time of the claim, by the store's clock, replaces the pending entry in the record.
 *
 * A process that dies between 2 and 3 leaves a pending claim. After `noticeMs` the fence of its execution is raised, so that the claim can
 * no longer be made; if it was made already, it counts as made at the moment when this is noticed.
 *
 * There may be room although executions have later places (the limit was raised, or some were cancelled). Then they are claimed before
 * their time, and the first one left becomes due when there is room for it. If a granted claim cannot be made because another process
 * claims the execution first, its room is free again, and the first execution in the line becomes due at once.
 *
 * An execution waits until its deadline at most (`PresentRate.waitsUntil`). Then it is claimed to end, which counts for no rate, and the first
 * execution in the line becomes due, so that the line moves up.
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

  /** Returns the first claims that may be made now; others get a later time, or are tried again. The caller must settle all grants. */
  async grant(asks: readonly RateAsk[], now: EpochMs, options: CheckedClaim): Promise<readonly RateGrant[]> {
    const waiting = asks.flatMap(({ rowKey, waiting: some }) => some.map((planned) => ({ planned, rowKey })));
    if (waiting.length === 0) return [];
    const guards = waiting.map(({ planned }) => planned.guard);
    const rates = await presentRates(this.#table, guards, options);
    const rooms = new Map(asks.map(({ rowKey, room }) => [rowKey, room]));
    const granted: RateGrant[] = [];
    const groups = new Map<string, readonly Candidate[]>();
    for (const { planned, rowKey } of waiting) {
      const present = rates.get(planned.guard.id);
      // the execution was deleted
      if (present === undefined) continue;
      const { rate, waitsUntil } = present;
      if (rate === null) {
        granted.push({ planned, key: null, leaves: null });
        continue;
      }
      const key = rateKeyOf(rate);
      if (waitsUntil > now) {
        groups.set(key, [...(groups.get(key) ?? []), { planned, rate, waitsUntil, rowKey, isAhead: false }]);
        continue;
      }
      const room = rooms.get(rowKey)!;
      if (room <= 0) continue;
      rooms.set(rowKey, room - 1);
      granted.push({ planned, key: null, leaves: key });
    }
    const found = await Promise.all([...groups].map(([key, candidates]) => this.#grantOf({ key, candidates, rooms }, options)));
    return [...granted, ...found.flat()];
  }

  /** Records which of the granted claims were made, and when. */
  async settle(grants: readonly RateGrant[], { claimed }: Pick<Taken, "claimed">): Promise<void> {
    const times = new Map(claimed.map(({ workflowId, fence, claimedAt }) => [`${fence} ${workflowId}`, claimedAt]));
    const isMade = ({ planned: { guard, fence } }: RateGrant): boolean => times.has(`${fence} ${guard.id}`);
    const left = new Set(grants.flatMap((grant) => (grant.leaves !== null && isMade(grant) ? grant.leaves : [])));
    const keys = [...new Set(grants.map(({ key }) => key))].filter((key) => key !== null);
    await Promise.all([
      // one that has left the line may have been its first one
      ...[...left].map((key) => this.#wake(key)),
      ...keys.map(async (key) => {
        const own = grants.filter((grant) => grant.key === key);
        const isOwn = ({ id, fence }: PendingClaim): boolean =>
          own.some(({ planned }) => planned.guard.id === id && planned.fence === fence);
        for (let tries = 0; tries < maxTries; tries++) {
          const stored = (await this.#table.records.get("permit", [key])).get(key) ?? null;
          const state = stateIn(stored);
          // a claim that was pending for too long is no longer in the record: another process has counted it
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
    ]);
  }

  async #grantOf(group: Group, options: CheckedClaim): Promise<readonly RateGrant[]> {
    const { key, rooms } = group;
    const [records, { now }] = await Promise.all([this.#table.records.get("permit", [key]), this.#table.read([])]);
    const stored = records.get(key) ?? null;
    const state = await this.#withoutLost(stateIn(stored), now);
    const candidates = await this.#inOrder(group, state, now, options);
    // all of them are pending: other processes are about to claim them
    if (candidates.candidates.length === 0) return [];
    const decision = decideRates(state, candidates, { now, rooms, skewMs: this.#skewMs, isOnlyAsked: options.workflowId !== undefined });
    // another process has written the record first, and has claimed or moved some of these candidates
    if (!(await this.#put(key, stored, decision.state))) return [];
    await Promise.all(decision.rescheduled.map((one) => this.#reschedule(one, now)));
    return decision.granted.map((planned) => ({ planned, key, leaves: null }));
  }

  /** Returns the state without pending claims of processes that are gone. Those that may have been made count as made now. */
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

  /** Returns the candidates in order. If there is room, they include executions with a place in the line that are not due yet. */
  async #inOrder({ candidates, rooms, key }: Group, state: RateState, now: EpochMs, options: CheckedClaim): Promise<Candidates> {
    const { pending, lastPlaces } = state;
    const isKnown = (id: string): boolean =>
      pending.some((one) => one.id === id) || candidates.some(({ planned }) => planned.guard.id === id);
    const open = candidates.filter(({ planned }) => !pending.some(({ id }) => id === planned.guard.id));
    // a place is written as the time left until then, so the stored time is later by the duration of the write
    const isEmpty = Math.max(...lastPlaces) + maxAnswerMs <= now;
    const times = timesIn(state, now);
    const isRoom = open.some(({ rate }) => freeAt(times, rate, this.#skewMs, now) <= now);
    // rows with a concurrency key have that as their permit key, so the key of the line does not find them
    if (!rooms.has(key) || isEmpty || !isRoom) return { candidates: open.toSorted(compareCandidates), isWhole: isEmpty };
    const others = await this.#waitingOf(key, isKnown);
    const rates = await presentRates(this.#table, others, options);
    const ahead = others.flatMap((guard): Candidate[] => {
      const { rate = null, waitsUntil = 0 } = rates.get(guard.id) ?? {};
      const isWaiting = rate !== null && rateKeyOf(rate) === key && waitsUntil > now;
      return isWaiting ? [{ planned: plannedClaim(guard), rate, waitsUntil, rowKey: key, isAhead: true }] : [];
    });
    return { candidates: [...open, ...ahead].toSorted(compareCandidates), isWhole: true };
  }

  /** Returns the first `maxAhead` executions that wait in a line. Known ones, and those that were claimed before, are skipped. */
  async #waitingOf(key: string, isKnown: (id: string) => boolean): Promise<readonly ExecutionGuard[]> {
    for (let limit = 2 * maxAhead; ; limit *= 4) {
      const { executions } = await this.#table.due({ keys: [key], limit, overdueMs: -everMs });
      const waiting = executions.filter((guard) => waitsForRate(guard) && !isKnown(guard.id)).slice(0, maxAhead);
      if (waiting.length === maxAhead || executions.length < limit || limit > maxLooked) return waiting;
    }
  }

  /** Moves an execution to another due time. A row that has changed meanwhile keeps its time, except a first one that is due later. */
  async #reschedule({ planned, dueAt, isFirst }: Reschedule, now: EpochMs): Promise<void> {
    let { guard, fence } = planned;
    for (let tries = 0; tries < maxTries; tries++) {
      const { id, incarnation } = guard;
      const when = { incarnation, fence: guard.fence, held: true };
      if (await this.#writer.write({ kind: "update", id, skipLocked: true, when, set: { fence, due: { inMs: dueAt - now } } })) return;
      if (!isFirst) return;
      const changed = liveGuard((await this.#table.read([id])).found.get(id));
      if (!changed || !waitsForRate(changed) || changed.dueAt === null || changed.dueAt <= dueAt) return;
      // the row is unchanged but locked by another transaction: it keeps its time
      if (attemptOf(changed) === attemptOf(guard)) return;
      ({ guard, fence } = plannedClaim(changed));
    }
  }

  /** Makes the first execution of a line due now, because there is room for it earlier than its place says. */
  async #wake(key: string, { pending }: Pick<RateState, "pending"> = { pending: [] }): Promise<void> {
    const [first] = await this.#waitingOf(key, (id) => pending.some((one) => one.id === id));
    const { now } = await this.#table.read([]);
    if (first) await this.#reschedule({ planned: plannedClaim(first), dueAt: now, isFirst: true }, now);
  }

  async #put(key: string, stored: StoredRecord | null, state: RateState): Promise<boolean> {
    const next = { revision: crypto.randomUUID(), text: JSON.stringify(state) };
    const [made] = await this.#table.records.put("permit", [{ key, expected: stored?.revision ?? null, next }]);
    return made!;
  }
}

function stateIn(stored: StoredRecord | null): RateState {
  return stored ? (JSON.parse(stored.text) as RateState) : noState;
}

function withGrants(state: RateState, given: readonly EpochMs[]): RateState {
  const grants = [...state.grants, ...given].sort((a, b) => a - b);
  return { ...state, grants: grants.slice(-state.limit) };
}
