import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../checked-store.ts";
import type { DueKey, DueKeys, ExecutionGuard, ExecutionTable, RowWrite } from "../execution-table.ts";
import type { RecordWrite, StoredRecord } from "../record-table.ts";
import { keyedLock } from "../writing/keyed-lock.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { attemptOf, crashesAfter, isDue, liveGuard } from "./guard.ts";
import { isRateKey, waitsForRate } from "./rate-key.ts";
import { type RateAsk, type RateGrant, Rates } from "./rates.ts";
import { type PlannedClaim, plannedClaim, takeExecutions } from "./take-executions.ts";

/** An execution that has a permit, as the record of its key holds it. */
export interface PermitHolder {
  readonly id: string;
  readonly incarnation: string;
  /** Of its claim. */
  readonly fence: number;
  /** If it was not claimed until then, the process that wanted to is gone. */
  readonly until: EpochMs;
}

/** The record of one key, and what its holders are doing now. */
interface KeyState {
  readonly key: string;
  /** Null: there is none. */
  readonly record: StoredRecord | null;
  readonly held: readonly PermitHolder[];
  /** Their time is over, but they might still come back. */
  readonly lost: readonly { readonly holder: PermitHolder; readonly guard: ExecutionGuard }[];
}

/** Keys as they were at one moment. */
interface KeyStates {
  readonly now: EpochMs;
  readonly states: readonly KeyState[];
}

/** What one key is to give to a claim. */
interface KeyPlan {
  readonly key: string;
  /** The executions to claim, longest due first. */
  readonly next: readonly PlannedClaim[];
  /** What is to be written to its record before; null: nothing. */
  readonly write: RecordWrite | null;
  /** Others stood before those that may be claimed, and have to wait longer. */
  readonly putOff: boolean;
}

/** What keys are to give, and which first claims among that were granted. */
interface Plans {
  readonly plans: readonly KeyPlan[];
  readonly grants: readonly RateGrant[];
}

/** What was claimed of some keys. */
interface ClaimedOfKeys {
  readonly claimed: readonly Claim[];
  /** One of the keys gave all that it was asked for. */
  readonly mayBeMore: boolean;
}

/** How long a process has to claim what it has put into a record. */
const noticeMs = 10_000;

/** Keys that are read together. */
const keysTogether = 32;

/** Executions of one key that are claimed together, at most. */
const maxOfKey = 32;

/** Keys that one claim looks at, at most; the next claim goes on from there. */
const maxKeysOfClaim = 1_000;

/** How often a claim looks again where executions have to wait longer, or other processes were first. */
const maxPutOff = 16;

/** How often a record is tried that others write in the same moment: each time, one of them gets a permit. */
const maxTries = 100;

/**
 * Permits: of the executions with one key, at most so many are claimed at once. This is exact, however many processes claim.
 *
 * A record for each key says who has its permits. A claim works in this order:
 *
 * 1. It reads the record, and the executions of the holders in it: one whose claim has ended has no permit any longer. So
 *    what ends a claim need not write the record.
 * 2. A holder whose lease has ended might still renew it. It is made unable to (`expiryOf`) before its permit is given away.
 * 3. It adds the executions that it is about to claim to the record, which is written only if no other process has written it
 *    since it was read: of two that see the same free permit, one begins again.
 * 4. It claims them, and takes out of the record what it could not claim.
 *
 * A process that dies between 3 and 4 leaves holders that never claim: after `noticeMs` their fence is raised, so that the claim
 * cannot be made any more, and their permits are given away.
 */
export class PermitClaims {
  readonly #table: ExecutionTable;
  readonly #writer: RowWriter;
  readonly #rates: Rates;
  /** Claims of one process on one key would only be in each other's way. */
  readonly #lock = keyedLock();
  /** The key at which the last claim of any key stopped. */
  #lastKey = "";

  constructor(table: ExecutionTable, writer: RowWriter) {
    this.#table = table;
    this.#writer = writer;
    this.#rates = new Rates(table, writer);
  }

  /**
   * Claims executions of one key, longest due first; with `workflowId` that one, if there is a permit for it.
   *
   * @param guard of that one, if it was just read: if it has changed since, it is read again
   */
  async claimOfKey(key: string, options: CheckedClaim, guard?: ExecutionGuard): Promise<readonly Claim[]> {
    return (await this.#lock.run([key], () => this.#claimLocked([key], options.limit, options, { due: guard && [guard] }))).claimed;
  }

  /** Claims executions of any key. Each key has its turn: the next claim goes on behind the last key of this one. */
  async claimAny(options: CheckedClaim, limit: number): Promise<readonly Claim[]> {
    const claimed: Claim[] = [];
    let looked = 0;
    for (let mayBeMore = true; mayBeMore; ) {
      mayBeMore = false;
      for await (const keys of this.#keysInTurn(options.overdueMs)) {
        const found = await this.#claimOfKeys(keys, { ...options, limit: limit - claimed.length });
        claimed.push(...found.claimed);
        this.#lastKey = found.lastKey;
        mayBeMore ||= found.mayBeMore;
        looked += keys.length;
        if (claimed.length >= limit || looked >= maxKeysOfClaim) return claimed;
      }
    }
    return claimed;
  }

  /** Deletes the records of keys of which no permit is taken. */
  async forgetUnused(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#rates.forgetUnused(keys.filter(isRateKey));
    const { states } = await this.#statesOf(keys);
    const unused = states.flatMap(({ record, held, lost }) => (record && held.length + lost.length === 0 ? deletionOf(record) : []));
    await this.#put(unused);
  }

  /** All keys for which something is due, in parts: those behind the last one, then from the first one to the last one. */
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

  /** Claims executions of those keys that have permits left: of each key as many as of any other. */
  async #claimOfKeys(keys: readonly DueKey[], options: CheckedClaim): Promise<ClaimedOfKeys & { readonly lastKey: string }> {
    const known = await this.#statesOf(keys.map(({ key }) => key));
    const open = known.states.filter(
      ({ held, lost }, index) => lost.length > 0 || isRateKey(keys[index]!.key) || held.length < keys[index]!.limit,
    );
    const states = open.slice(0, options.limit);
    const limit = Math.max(1, Math.floor(options.limit / Math.max(1, states.length)));
    const names = states.map(({ key }) => key);
    const { claimed, mayBeMore } = await this.#lock.run(names, () =>
      this.#claimLocked(names, limit, options, { keys: { ...known, states } }),
    );
    const isCut = states.length < open.length;
    return { claimed, mayBeMore: mayBeMore || isCut, lastKey: (isCut ? states : keys).at(-1)!.key };
  }

  /**
   * Claims at most `limit` executions of each key.
   *
   * @param known the keys, and what is due, as far as they were just read: what has changed since is not written, and read again
   */
  async #claimLocked(
    keys: readonly string[],
    limit: number,
    options: CheckedClaim,
    known: { readonly keys?: KeyStates | undefined; readonly due?: readonly ExecutionGuard[] | undefined },
  ): Promise<ClaimedOfKeys> {
    const claimed: Claim[] = [];
    const wanted = new Map(keys.map((key) => [key, limit]));
    // what was tried and is still as it was: another transaction has locked its row. It has to wait, and the others of its key need not
    const passedOver = new Set<string>();
    let mayBeMore = false;
    for (let tries = 0; wanted.size > 0 && tries < maxTries; tries++) {
      const { keys: read = await this.#statesOf([...wanted.keys()]), due } = tries === 0 ? known : {};
      // one that comes back in this moment keeps its permit; either way its key is read again
      const lost = read.states.flatMap((state) => state.lost.map((one) => ({ ...one, key: state.key })));
      for (const { key, guard } of lost) if (passedOver.has(attemptOf(guard))) wanted.delete(key);
      const fresh = lost.filter(({ key }) => wanted.has(key));
      await Promise.all(fresh.map(({ holder, guard }) => this.#writer.write(expiryOf(holder, guard))));
      for (const { guard } of fresh) passedOver.add(attemptOf(guard));
      const { plans, grants } = await this.#plansOf(read, wanted, { ...options, passedOver }, due);
      const written = await this.#put(plans.flatMap(({ write }) => write ?? []));
      const allowed = plans.filter(({ write }) => !write || written.has(write));
      const nexts = allowed.flatMap(({ next }) => next);
      // all claims of a key wait for this one, also where it is for a certain execution
      const taken = await takeExecutions(this.#writer, nexts, options, true);
      claimed.push(...taken.claimed);
      // what is not settled counts as claimed later than it was
      await this.#rates.settle(grants, taken).catch(() => undefined);
      for (const { key, next, write, putOff } of allowed) {
        const missed = next.filter((one) => taken.missed.includes(one));
        for (const { guard } of missed) passedOver.add(attemptOf(guard));
        if (write && missed.length > 0) await this.#takeOut({ key, ...write.next! }, missed);
        const left = wanted.get(key)! - next.length + missed.length;
        mayBeMore ||= left === 0;
        const isDone = missed.length === 0 && next.length < maxOfKey && !(putOff && tries < maxPutOff);
        if (left === 0 || isDone) wanted.delete(key);
        else wanted.set(key, left);
      }
    }
    return { claimed, mayBeMore };
  }

  /** The longest due of each key that may have a permit. Behind one that has to wait, all others of its key wait. */
  async #plansOf(
    { now, states }: KeyStates,
    wanted: ReadonlyMap<string, number>,
    options: CheckedClaim & { readonly passedOver: ReadonlySet<string> },
    known: readonly ExecutionGuard[] | undefined,
  ): Promise<Plans> {
    const asked = states
      .filter(({ key, lost }) => lost.length === 0 && wanted.has(key))
      .map((state) => ({ ...state, most: Math.min(wanted.get(state.key)!, maxOfKey) }));
    if (asked.length === 0) return { plans: [], grants: [] };
    const keys = asked.map(({ key }) => key);
    const limit =
      Math.max(...asked.map(({ key, most, held }) => (isRateKey(key) ? maxOfKey : most + held.length))) + options.passedOver.size;
    const found = known ?? (await this.#dueOf(keys, limit, options));
    const due = found.filter((guard) => !options.passedOver.has(attemptOf(guard)));
    const until = now + Math.min(options.leaseMs, noticeMs);
    const chosen = asked.map((state) => ({ ...state, first: firstDue(state, due) }));
    const asks = chosen.map(({ key: rowKey, first, most }): RateAsk => {
      const waiting = first.filter(({ guard }) => waitsForRate(guard));
      return { rowKey, waiting, room: Math.max(0, most - first.length + waiting.length) };
    });
    const grants = await this.#rates.grant(asks, options);
    const plans = chosen.map(({ key, record, held, first, most }): KeyPlan => {
      const granted = grants.filter(({ planned }) => planned.guard.permit?.key === key).map(({ planned }) => planned);
      const next = [...first.filter(({ guard }) => !waitsForRate(guard)).slice(0, most), ...granted];
      const putOff = next.length < first.length;
      if (isRateKey(key)) return { key, next, write: null, putOff };
      if (next.length === 0) return { key, next, write: record && held.length === 0 ? deletionOf(record) : null, putOff };
      const added = next.map(({ guard: { id, incarnation }, fence }) => ({ id, incarnation, fence, until }));
      return { key, next, write: writeOf(key, record, [...held, ...added]), putOff };
    });
    return { plans, grants };
  }

  async #dueOf(keys: readonly string[], limit: number, { workflowId, overdueMs }: CheckedClaim): Promise<readonly ExecutionGuard[]> {
    if (workflowId === undefined) return (await this.#table.due({ keys, limit, overdueMs })).executions;
    const { now, found } = await this.#table.read([workflowId]);
    const guard = found.get(workflowId);
    return guard && isDue(guard, now, overdueMs) ? [guard] : [];
  }

  /** Makes writes of records. Gives those that were made. */
  async #put(writes: readonly RecordWrite[]): Promise<ReadonlySet<RecordWrite>> {
    const made = writes.length > 0 ? await this.#table.records.put("permit", writes) : [];
    return new Set(writes.filter((_, index) => made[index]));
  }

  /** Takes holders out that were not claimed. */
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
    const named = keys.filter((key) => !isRateKey(key));
    const [records, { now: clock }] = await Promise.all([
      named.length > 0 ? this.#table.records.get("permit", named) : new Map<string, StoredRecord>(),
      this.#table.read([]),
    ]);
    const ids = [...new Set([...records.values()].flatMap((record) => holdersIn(record).map(({ id }) => id)))];
    const { now, found } = ids.length > 0 ? await this.#table.read(ids) : { now: clock, found: new Map<string, ExecutionGuard>() };
    const states = keys.map((key): KeyState => {
      const record = records.get(key) ?? null;
      const seen = record ? holdersIn(record).map((holder) => ({ holder, guard: liveGuard(found.get(holder.id)) })) : [];
      const held = seen.filter(({ holder, guard }) => holderStatus(holder, guard, now) === "held").map(({ holder }) => holder);
      const lost = seen.flatMap(({ holder, guard }) => (guard && holderStatus(holder, guard, now) === "lost" ? [{ holder, guard }] : []));
      return { key, record, held, lost };
    });
    return { now, states };
  }
}

/** The longest due of a key that may have a permit. Of the line of a rate, where nobody has one, as many as are looked at together. */
function firstDue(
  { key, held, most }: { readonly key: string; readonly held: readonly PermitHolder[]; readonly most: number },
  due: readonly ExecutionGuard[],
): readonly PlannedClaim[] {
  const next: PlannedClaim[] = [];
  for (const guard of due) {
    if (guard.permit?.key !== key || held.some(({ id }) => id === guard.id)) continue;
    if (isRateKey(key) ? next.length === maxOfKey : next.length === most || held.length + next.length >= guard.permit.limit) break;
    next.push(plannedClaim(guard));
  }
  return next;
}

/** A record with these holders, if nobody has written it since it was read. */
function writeOf(key: string, record: StoredRecord | null, holders: readonly PermitHolder[]): RecordWrite {
  return { key, expected: record?.revision ?? null, next: { revision: crypto.randomUUID(), text: JSON.stringify(holders) } };
}

/** No record, if nobody has written it since it was read. */
function deletionOf({ key, revision }: StoredRecord): RecordWrite {
  return { key, expected: revision, next: null };
}

function holdersIn({ text }: StoredRecord): readonly PermitHolder[] {
  return JSON.parse(text) as PermitHolder[];
}

/**
 * What has become of a holder. One that is `gone` never comes back: its fence is not given out again. One that is `lost` might
 * still renew its claim, or make it.
 */
function holderStatus({ incarnation, fence, until }: PermitHolder, guard: ExecutionGuard | null, now: EpochMs): "held" | "lost" | "gone" {
  if (guard?.incarnation !== incarnation || guard.fence > fence) return "gone";
  if (guard.fence < fence) return until <= now ? "lost" : "held";
  if (guard.owner === null || waitsForRate(guard)) return "gone";
  return guard.dueAt === null || guard.dueAt > now ? "held" : "lost";
}

/** Ends the claim of a lost holder, or keeps it from being made. */
function expiryOf({ id, incarnation, fence }: PermitHolder, guard: ExecutionGuard): RowWrite {
  const held = guard.owner !== null;
  return {
    kind: "update",
    id,
    skipLocked: true,
    when: { incarnation, fence: guard.fence, held, ...(held && !waitsForRate(guard) && { due: true }) },
    set: { owner: waitsForRate(guard) ? guard.owner : null, fence, crashes: crashesAfter(guard) },
  };
}
