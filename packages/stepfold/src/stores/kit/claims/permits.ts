import type { EpochMs } from "../../../core/values/json.ts";
import type { Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../checked-store.ts";
import type { DueKey, DueKeys, ExecutionGuard, ExecutionTable, RowWrite } from "../execution-table.ts";
import type { StoredRecord } from "../record-table.ts";
import { keyedLock } from "../writing/keyed-lock.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { crashesAfter, isDue, liveGuard } from "./guard.ts";
import { takeExecutions } from "./take-executions.ts";

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
  /** Null: there is none. */
  readonly record: StoredRecord | null;
  readonly held: readonly PermitHolder[];
  /** Their time is over, but they might still come back. */
  readonly lost: readonly { readonly holder: PermitHolder; readonly guard: ExecutionGuard }[];
  readonly now: EpochMs;
}

/** How long a process has to claim what it has put into a record. */
const noticeMs = 10_000;

/** Keys that are read together. */
const keysTogether = 32;

/** Keys that one claim looks at, at most; the next claim goes on from there. */
const maxKeysOfClaim = 1_000;

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
  /** Claims of one process on one key would only be in each other's way. */
  readonly #lock = keyedLock();
  /** The key at which the last claim of any key stopped. */
  #lastKey = "";

  constructor(table: ExecutionTable, writer: RowWriter) {
    this.#table = table;
    this.#writer = writer;
  }

  /** Claims executions of one key, longest due first; with `workflowId` that one, if there is a permit for it. */
  claimOfKey(key: string, options: CheckedClaim): Promise<readonly Claimed[]> {
    return this.#lock.run(key, () => this.#claimLocked(key, options));
  }

  /** Claims executions of any key. Each key has its turn: the next claim goes on behind the last key of this one. */
  async claimAny(options: CheckedClaim, limit: number): Promise<readonly Claimed[]> {
    const claimed: Claimed[] = [];
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
    const states = await this.#statesOf(keys);
    await Promise.all(
      states.map(async ({ record, held, lost }) => {
        if (record && held.length === 0 && lost.length === 0) await this.#write(record.key, record, null);
      }),
    );
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

  /** Claims executions of those keys that have permits left. */
  async #claimOfKeys(
    keys: readonly DueKey[],
    options: CheckedClaim,
  ): Promise<{ readonly claimed: readonly Claimed[]; readonly mayBeMore: boolean; readonly lastKey: string }> {
    const states = await this.#statesOf(keys.map(({ key }) => key));
    const asked = keys.map(({ key, limit }, index) => ({ key, limit, state: states[index]! }));
    const open = asked.filter(({ limit, state: { held, lost } }) => lost.length > 0 || held.length < limit);
    const some = open.slice(0, options.limit);
    const limit = Math.max(1, Math.floor(options.limit / Math.max(1, some.length)));
    const each = await Promise.all(
      some.map(({ key, state }) => this.#lock.run(key, () => this.#claimLocked(key, { ...options, limit }, state))),
    );
    const isCut = some.length < open.length;
    const mayBeMore = isCut || each.some(({ length }) => length === limit);
    return { claimed: each.flat(), mayBeMore, lastKey: (isCut ? some : keys).at(-1)!.key };
  }

  /** @param known the state of the key, if it was just read: a record that has changed since is not written */
  async #claimLocked(key: string, options: CheckedClaim, known?: KeyState): Promise<readonly Claimed[]> {
    const claimed: Claimed[] = [];
    let first = known;
    for (let tries = 0; tries < maxTries && claimed.length < options.limit; tries++) {
      const state: KeyState = first ?? (await this.#statesOf([key]))[0]!;
      first = undefined;
      const expired = await Promise.all(state.lost.map(({ holder, guard }) => this.#writer.write(expiryOf(holder, guard))));
      // one that came back in this moment is seen the next time
      if (expired.includes(null)) continue;
      const wanted = Math.min(options.limit - claimed.length, keysTogether);
      const next = await this.#nextOf(key, state.held, wanted, options);
      if (next.length === 0) {
        if (state.record && state.held.length === 0) await this.#write(key, state.record, null);
        break;
      }
      const until = state.now + Math.min(options.leaseMs, noticeMs);
      const added = next.map(({ id, incarnation, fence }) => ({ id, incarnation, fence: fence + 1, until }));
      const written = await this.#write(key, state.record, [...state.held, ...added]);
      if (!written) continue;
      tries = 0;
      const taken = await takeExecutions(this.#table, this.#writer, next, options);
      claimed.push(...taken.claimed);
      if (taken.missed.length > 0) await this.#takeOut(key, written, taken.missed);
      else if (next.length < wanted) break;
    }
    return claimed;
  }

  /** The longest due that may have a permit. Behind one that has to wait, all others of the key wait. */
  async #nextOf(key: string, held: readonly PermitHolder[], wanted: number, options: CheckedClaim): Promise<ExecutionGuard[]> {
    const next: ExecutionGuard[] = [];
    for (const guard of await this.#dueOf(key, wanted + held.length, options)) {
      if (held.some(({ id }) => id === guard.id)) continue;
      if (next.length === wanted || held.length + next.length >= (guard.permit?.limit ?? 0)) break;
      next.push(guard);
    }
    return next;
  }

  async #dueOf(key: string, limit: number, { workflowId, overdueMs }: CheckedClaim): Promise<readonly ExecutionGuard[]> {
    if (workflowId === undefined) return (await this.#table.due({ key, limit, overdueMs })).executions;
    const { now, found } = await this.#table.read([workflowId]);
    const guard = found.get(workflowId);
    return guard && isDue(guard, now, overdueMs) ? [guard] : [];
  }

  /** Takes holders out that were not claimed. */
  async #takeOut(key: string, written: StoredRecord, missed: readonly ExecutionGuard[]): Promise<void> {
    const isMissed = ({ id, fence }: PermitHolder): boolean => missed.some((one) => one.id === id && one.fence + 1 === fence);
    let record: StoredRecord | undefined = written;
    for (let tries = 0; record && tries < maxTries; tries++) {
      const others = holdersIn(record).filter((holder) => !isMissed(holder));
      if (await this.#write(key, record, others)) return;
      record = (await this.#table.records.get("permit", [key])).get(key);
    }
  }

  /** Null if another process has written the record since it was read. Without holders the record is deleted. */
  async #write(key: string, record: StoredRecord | null, holders: readonly PermitHolder[] | null): Promise<StoredRecord | null> {
    const next = holders && { revision: crypto.randomUUID(), text: JSON.stringify(holders) };
    const [made] = await this.#table.records.put("permit", [{ key, expected: record?.revision ?? null, next }]);
    return made && next ? { key, ...next } : null;
  }

  async #statesOf(keys: readonly string[]): Promise<KeyState[]> {
    const [records, clock] = await Promise.all([this.#table.records.get("permit", keys), this.#table.now()]);
    const ids = [...new Set([...records.values()].flatMap((record) => holdersIn(record).map(({ id }) => id)))];
    const { now, found } = ids.length > 0 ? await this.#table.read(ids) : { now: clock, found: new Map<string, ExecutionGuard>() };
    return keys.map((key) => {
      const record = records.get(key) ?? null;
      const seen = record ? holdersIn(record).map((holder) => ({ holder, guard: liveGuard(found.get(holder.id)) })) : [];
      const held = seen.filter(({ holder, guard }) => standingOf(holder, guard, now) === "held").map(({ holder }) => holder);
      const lost = seen.flatMap(({ holder, guard }) => (guard && standingOf(holder, guard, now) === "lost" ? [{ holder, guard }] : []));
      return { record, held, lost, now };
    });
  }
}

function holdersIn({ text }: StoredRecord): readonly PermitHolder[] {
  return JSON.parse(text) as PermitHolder[];
}

/**
 * What has become of a holder. One that is `gone` never comes back: its fence is not given out again. One that is `lost` might
 * still renew its claim, or make it.
 */
function standingOf({ incarnation, fence, until }: PermitHolder, guard: ExecutionGuard | null, now: EpochMs): "held" | "lost" | "gone" {
  if (guard?.incarnation !== incarnation || guard.fence > fence) return "gone";
  if (guard.fence < fence) return until <= now ? "lost" : "held";
  if (guard.owner === null) return "gone";
  return guard.dueAt === null || guard.dueAt > now ? "held" : "lost";
}

/** Ends the claim of a lost holder, or keeps it from being made. */
function expiryOf({ id, incarnation, fence }: PermitHolder, guard: ExecutionGuard): RowWrite {
  const held = guard.owner !== null;
  return {
    kind: "update",
    id,
    when: { incarnation, fence: guard.fence, held, ...(held && { dueForMs: 0 }) },
    set: { owner: null, fence, crashes: crashesAfter(guard) },
  };
}
