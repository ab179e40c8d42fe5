import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim } from "../../../ports/snapshot-store.ts";
import type { ExecutionGuard } from "../execution-rows.ts";
import type { DueKey, DueKeys, ExecutionTable } from "../execution-table.ts";
import type { RecordWrite, StoredRecord } from "../record-table.ts";
import { keyedLock } from "../writing/keyed-lock.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { attemptOf, isDue, liveGuard } from "./guard.ts";
import { type CountedClaim, leaveLacking } from "./leave-lacking.ts";
import { countedKeyOf, partitionOf, takesPartition } from "./partitions.ts";
import { deletionOf, expiryOf, holderStatus, holdersIn, type PermitHolder, writeOf } from "./permit-holders.ts";
import { isRateKey, waitsForRate } from "./rate-key.ts";
import { type RateAsk, type RateGrant, Rates } from "./rates.ts";
import { type PlannedClaim, plannedClaim, takeExecutions } from "./take-executions.ts";
import { deleteUnusedRates } from "./unused-rates.ts";

/** A partition of the due executions, with the record of its key and the state of its holders. */
interface KeyState {
  /** The permit key of its rows. */
  readonly key: string;
  /** The key of its record: see `countedKeyOf`. */
  readonly counted: string | null;
  /** Null: there is no record. */
  readonly record: StoredRecord | null;
  /** Holders that have a permit now. */
  readonly held: readonly PermitHolder[];
  /** Holders whose time is over, but that might still renew or make their claim. */
  readonly lost: readonly { readonly holder: PermitHolder; readonly guard: ExecutionGuard }[];
}

/** The states of several keys at one moment. */
interface KeyStates {
  readonly now: EpochMs;
  readonly states: readonly KeyState[];
}

/** The plan for one key: which executions to claim. */
interface KeyPlan {
  readonly key: string;
  /** The executions to claim, longest due first. */
  readonly next: readonly PlannedClaim[];
  /** The write of its record that must be made before the claims; null: none. */
  readonly write: RecordWrite | null;
  /** True: some of the chosen executions are not claimed now, because their rate did not grant it. */
  readonly putOff: boolean;
  /** True: some that this process cannot run were moved away from before the others. */
  readonly moved: boolean;
}

/** The plans for several keys, and the first claims among them that their rates grant. */
interface Plans {
  readonly plans: readonly KeyPlan[];
  readonly grants: readonly RateGrant[];
}

/** The claims made for some keys. */
interface ClaimedOfKeys {
  readonly claimed: readonly Claim[];
  /** True: as many executions as wanted were claimed for one of the keys, so more of them may be due. */
  readonly mayBeMore: boolean;
}

/** The longest time in which a process must claim an execution after it has put it into a record. */
const noticeMs = 10_000;

/** The most keys that are read together. */
const keysTogether = 32;

/** The most executions of one key that are claimed together. */
const maxOfKey = 32;

/** The most executions that are looked at together for whether this process can run them. */
const maxMoved = 100;

/** The number of keys after which one claim stops. The next claim continues from there. */
const maxKeysOfClaim = 1_000;

/** How many times a key is examined again because its executions have to wait longer, or another process changed its rate record first. */
const maxPutOff = 16;

/** How many times a claim is tried if other processes keep changing the record first. Each time one of them gets a permit. */
const maxTries = 100;

/**
 * Permits: at most `limit` executions with the same permit key are claimed at the same time. This is exact, however many processes claim.
 *
 * A record for each key lists the holders of its permits. A claim works in this order:
 *
 * 1. It reads the record, and the executions of the holders in it. A holder whose claim has ended has no permit any longer. So the write
 *    that ends a claim need not change the record.
 * 2. A holder whose lease has ended might still renew it. So its claim is ended (`expiryOf`) before its permit goes to another execution.
 * 3. It adds the executions that it is about to claim to the record. The record is written only if no other process has written it
 *    since it was read: if two processes see the same free permit, one of them has to begin again.
 * 4. It claims the executions, and removes those from the record that it could not claim.
 *
 * A process that dies between 3 and 4 leaves holders that are never claimed. After `noticeMs` the fence of such an execution is raised, so
 * that the claim can no longer be made, and its permit goes to another execution.
 */
export class PermitClaims {
  readonly #table: ExecutionTable;
  readonly #writer: RowWriter;
  readonly #rates: Rates;
  /** Makes claims of this process for one key one after the other, because concurrent ones would only conflict. */
  readonly #lock = keyedLock();
  /** The key at which the last claim of any key stopped. */
  #lastKey = "";

  constructor(table: ExecutionTable, writer: RowWriter) {
    this.#table = table;
    this.#writer = writer;
    this.#rates = new Rates(table, writer);
  }

  /**
   * Claims executions of some partitions, longest due first; with `workflowId` only this execution, if there is a permit for it.
   *
   * @param guard the guard of this execution, if it was just read; if it has changed since, it is read again
   */
  async claimOfKeys(keys: readonly string[], options: CountedClaim, guard?: ExecutionGuard): Promise<readonly Claim[]> {
    const claim = () => this.#claimLocked(keys, options.limit, options, { due: guard && [guard] });
    return (await this.#lock.run(keys.map(lockOf), claim)).claimed;
  }

  /** Claims executions of any key. The keys take turns: the next claim begins after the last key of this one. */
  async claimAny(options: CountedClaim, limit: number): Promise<readonly Claim[]> {
    const claimed: Claim[] = [];
    let looked = 0;
    for (let mayBeMore = true; mayBeMore; ) {
      mayBeMore = false;
      for await (const keys of this.#keysInTurn(options.overdueMs)) {
        const taken = keys.filter(({ key }) => takesPartition(partitionOf(key), options));
        const found = await this.#claimOfDue(taken, { ...options, limit: limit - claimed.length });
        claimed.push(...found.claimed);
        this.#lastKey = found.lastKey ?? keys.at(-1)!.key;
        mayBeMore ||= found.mayBeMore;
        looked += keys.length;
        if (claimed.length >= limit || looked >= maxKeysOfClaim || options.moves.left === 0) return claimed;
      }
    }
    return claimed;
  }

  /** Deletes the records of permit keys without holders, and of rates that limit no claim any more. */
  async forgetUnused(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await deleteUnusedRates(this.#table, keys.filter(isRateKey));
    const { states } = await this.#statesOf(keys);
    const unused = states.flatMap(({ record, held, lost }) => (record && held.length + lost.length === 0 ? deletionOf(record) : []));
    await this.#put(unused);
  }

  /** Yields all keys for which an execution is due, in parts: the keys after `#lastKey`, then those from the first key to `#lastKey`. */
  async *#keysInTurn(overdueMs: number): AsyncGenerator<readonly DueKey[], void> {
    const last = this.#lastKey;
    for (const start of last === "" ? [""] : [last, ""]) {
      for (let after: string | null = start; after !== null; ) {
        const { keys, next }: DueKeys = await this.#table.dueKeys(after, keysTogether, overdueMs);
        const end = start === "" && last !== "" ? keys.findIndex(({ key }) => key === last) : -1;
        if (keys.length > 0) yield end < 0 ? keys : keys.slice(0, end + 1);
        if (end >= 0) return;
        after = next;
      }
    }
  }

  /**
   * Claims executions of those keys that have free permits, with the same limit for each key.
   *
   * @returns with `lastKey`, if not all of the keys got their turn, the last one that did
   */
  async #claimOfDue(keys: readonly DueKey[], options: CountedClaim): Promise<ClaimedOfKeys & { readonly lastKey: string | null }> {
    if (keys.length === 0) return { claimed: [], mayBeMore: false, lastKey: null };
    const known = await this.#statesOf(keys.map(({ key }) => key));
    const open = known.states.filter(
      ({ held, lost, counted }, index) => lost.length > 0 || counted === null || held.length < keys[index]!.limit,
    );
    const states = open.slice(0, options.limit);
    const limit = Math.max(1, Math.floor(options.limit / Math.max(1, states.length)));
    const names = states.map(({ key }) => key);
    const { claimed, mayBeMore } = await this.#lock.run(names.map(lockOf), () =>
      this.#claimLocked(names, limit, options, { keys: { ...known, states } }),
    );
    const isCut = states.length < open.length;
    return { claimed, mayBeMore: mayBeMore || isCut, lastKey: isCut ? states.at(-1)!.key : null };
  }

  /**
   * Claims at most `limit` executions of each key.
   *
   * @param known states of the keys and due executions, as far as they were just read. If they have changed since, the writes fail, and
   * they are read again
   */
  async #claimLocked(
    keys: readonly string[],
    limit: number,
    options: CountedClaim,
    known: { readonly keys?: KeyStates | undefined; readonly due?: readonly ExecutionGuard[] | undefined },
  ): Promise<ClaimedOfKeys> {
    const claimed: Claim[] = [];
    const wanted = new Map(keys.map((key) => [key, limit]));
    // executions that were tried and have not changed since: their rows are locked by another transaction. Others of their keys go on
    const passedOver = new Set<string>();
    let mayBeMore = false;
    for (let tries = 0; wanted.size > 0 && tries < maxTries; tries++) {
      const { keys: all = await this.#statesOf([...wanted.keys()]), due } = tries === 0 ? known : {};
      const read = { ...all, states: oneOfEachKey(all.states) };
      // ends the claims of lost holders. One that renews its claim in this moment keeps its permit. Either way its key is read again
      const lost = read.states.flatMap((state) => state.lost.map((one) => ({ ...one, key: state.key })));
      for (const { key, guard } of lost) if (passedOver.has(attemptOf(guard))) wanted.delete(key);
      const fresh = lost.filter(({ key }) => wanted.has(key));
      const expired = await Promise.all(fresh.map(({ holder, guard }) => this.#writer.write(expiryOf(holder, guard))));
      for (const [index, { guard }] of fresh.entries()) if (!expired[index]) passedOver.add(attemptOf(guard));
      const { plans, grants } = await this.#plansOf(read, wanted, { ...options, passedOver }, due);
      const written = await this.#put(plans.flatMap(({ write }) => write ?? []));
      const allowed = plans.filter(({ write }) => !write || written.has(write));
      const nexts = allowed.flatMap(({ next }) => next);
      // locked rows are always passed over, also in a claim by id, because all other claims of the key wait for this one
      const taken = await takeExecutions(this.#writer, nexts, options, true);
      claimed.push(...taken.claimed);
      // if this fails, the claims stay pending, and a later claim of any process counts them, with a later time
      await this.#rates.settle(grants, taken).catch(() => undefined);
      for (const { key, next, write, putOff, moved } of allowed) {
        const missed = next.filter((one) => taken.missed.includes(one));
        for (const { guard } of missed) passedOver.add(attemptOf(guard));
        if (write && missed.length > 0) await this.#takeOut({ key: write.key, ...write.next! }, missed);
        const left = wanted.get(key)! - next.length + missed.length;
        mayBeMore ||= left === 0;
        const isDone = missed.length === 0 && next.length < maxOfKey && !moved && !(putOff && tries < maxPutOff);
        if (left === 0 || isDone) wanted.delete(key);
        else wanted.set(key, left);
      }
    }
    return { claimed, mayBeMore };
  }

  /**
   * Plans claims of the longest due executions of each key that may have a permit. If an execution has to wait for a permit, all later
   * executions of its key wait too.
   */
  async #plansOf(
    { now, states }: KeyStates,
    wanted: ReadonlyMap<string, number>,
    options: CountedClaim & { readonly passedOver: ReadonlySet<string> },
    known: readonly ExecutionGuard[] | undefined,
  ): Promise<Plans> {
    const asked = states
      .filter(({ key, lost }) => lost.length === 0 && wanted.has(key))
      .map((state) => ({ ...state, most: Math.min(wanted.get(state.key)!, maxOfKey) }));
    if (asked.length === 0) return { plans: [], grants: [] };
    const keys = asked.map(({ key }) => key);
    const first = Math.max(...asked.map(({ counted, most, held }) => (counted === null ? maxOfKey : most + held.length)));
    // those that this process cannot run are moved away from before the others
    const limit = Math.max(first, options.lacks?.size ? maxMoved : 0) + options.passedOver.size;
    const found = known ?? (await this.#dueOf(keys, limit, options));
    const fresh = found.filter((guard) => !options.passedOver.has(attemptOf(guard)));
    const { guards: due, moved } = await leaveLacking(this.#table, this.#writer, fresh, options);
    const until = now + Math.min(options.leaseMs, noticeMs);
    const chosen = asked.map((state) => ({ ...state, first: firstDue(state, due) }));
    const asks = chosen.map(({ key: rowKey, first, most }): RateAsk => {
      const waiting = first.filter(({ guard }) => waitsForRate(guard));
      return { rowKey, waiting, room: Math.max(0, most - first.length + waiting.length) };
    });
    const grants = await this.#rates.grant(asks, now, options);
    const plans = chosen.map(({ key, counted, record, held, first, most }): KeyPlan => {
      const granted = grants.filter(({ planned }) => planned.guard.permit?.key === key).map(({ planned }) => planned);
      const next = [...first.filter(({ guard }) => !waitsForRate(guard)).slice(0, most), ...granted];
      const plan = {
        key,
        next,
        putOff: next.length < first.length,
        moved: fresh.some(({ id, permit }) => moved.has(id) && permit?.key === key),
      };
      if (counted === null) return { ...plan, write: null };
      if (next.length === 0) return { ...plan, write: record && held.length === 0 ? deletionOf(record) : null };
      const added = next.map(({ guard: { id, incarnation }, fence }) => ({ id, incarnation, fence, until }));
      return { ...plan, write: writeOf(counted, record, [...held, ...added]) };
    });
    return { plans, grants };
  }

  async #dueOf(keys: readonly string[], limit: number, { workflowId, overdueMs }: CountedClaim): Promise<readonly ExecutionGuard[]> {
    if (workflowId === undefined) return (await this.#table.due({ keys, limit, overdueMs })).executions;
    const { now, found } = await this.#table.read([workflowId]);
    const guard = found.get(workflowId);
    return guard && isDue(guard, now, overdueMs) ? [guard] : [];
  }

  /** Writes records. Returns the writes that were made. */
  async #put(writes: readonly RecordWrite[]): Promise<ReadonlySet<RecordWrite>> {
    const made = writes.length > 0 ? await this.#table.records.put("permit", writes) : [];
    return new Set(writes.filter((_, index) => made[index]));
  }

  /** Removes holders that could not be claimed from a record. */
  async #takeOut(written: StoredRecord, missed: readonly PlannedClaim[]): Promise<void> {
    const isMissed = ({ id, fence }: PermitHolder): boolean => missed.some((one) => one.guard.id === id && one.fence === fence);
    let record: StoredRecord | undefined = written;
    for (let tries = 0; record && tries < maxTries; tries++) {
      const key: string = record.key;
      const others = holdersIn(record).filter((holder) => !isMissed(holder));
      if ((await this.#put([writeOf(key, record, others)])).size > 0) return;
      record = (await this.#table.records.get("permit", [key])).get(key);
    }
  }

  async #statesOf(keys: readonly string[]): Promise<KeyStates> {
    const named = [...new Set(keys.flatMap((key) => countedKeyOf(key) ?? []))];
    const [records, { now: clock }] = await Promise.all([
      named.length > 0 ? this.#table.records.get("permit", named) : new Map<string, StoredRecord>(),
      this.#table.read([]),
    ]);
    const ids = [...new Set([...records.values()].flatMap((record) => holdersIn(record).map(({ id }) => id)))];
    const { now, found } = ids.length > 0 ? await this.#table.read(ids) : { now: clock, found: new Map<string, ExecutionGuard>() };
    const states = keys.map((key): KeyState => {
      const counted = countedKeyOf(key);
      const record = counted === null ? null : (records.get(counted) ?? null);
      const seen = record ? holdersIn(record).map((holder) => ({ holder, guard: liveGuard(found.get(holder.id)) })) : [];
      const held = seen.filter(({ holder, guard }) => holderStatus(holder, guard, now) === "held").map(({ holder }) => holder);
      const lost = seen.flatMap(({ holder, guard }) => (guard && holderStatus(holder, guard, now) === "lost" ? [{ holder, guard }] : []));
      return { key, counted, record, held, lost };
    });
    return { now, states };
  }
}

/** The lock of a partition: that of its record, or its own. */
function lockOf(rowKey: string): string {
  return countedKeyOf(rowKey) ?? rowKey;
}

/** Leaves out all partitions but one of each concurrency key: the others wait until its record is written. */
function oneOfEachKey(states: readonly KeyState[]): readonly KeyState[] {
  const seen = new Set<string>();
  return states.filter(({ key }) => !seen.has(lockOf(key)) && seen.add(lockOf(key)));
}

/**
 * Chooses the longest due executions of a partition for which there are permits. One without a concurrency key has no permits: there it takes
 * `maxOfKey`.
 */
function firstDue(
  { key, counted, held, most }: Pick<KeyState, "key" | "counted" | "held"> & { readonly most: number },
  due: readonly ExecutionGuard[],
): readonly PlannedClaim[] {
  const next: PlannedClaim[] = [];
  for (const guard of due) {
    if (guard.permit?.key !== key || held.some(({ id }) => id === guard.id)) continue;
    if (counted === null ? next.length === maxOfKey : next.length === most || held.length + next.length >= guard.permit.limit) break;
    next.push(plannedClaim(guard));
  }
  return next;
}
