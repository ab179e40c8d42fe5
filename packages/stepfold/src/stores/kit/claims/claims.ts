import type { Status } from "../../../core/snapshot/snapshot.ts";
import { defaultTaskQueue } from "../../../core/values/ids/id.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../checked-store.ts";
import type { ExecutionGuard } from "../execution-rows.ts";
import type { ExecutionTable, KeyedDue } from "../execution-table.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { releaseOf, renewalOf } from "../writing/row-writes.ts";
import { endedClaim, keptClaim } from "../writing/verdict.ts";
import { isExempt } from "./exempt.ts";
import { fenceStep } from "./fence.ts";
import { attemptOf, isDue, liveGuard } from "./guard.ts";
import { type CountedClaim, leaveLacking, Moves } from "./leave-lacking.ts";
import { namedQueue, partitionOf, rowKeyOf, takesPartition, takesQueueOf } from "./partitions.ts";
import { PermitClaims } from "./permits.ts";
import { presentRates } from "./present-rates.ts";
import { waitsForRate } from "./rate-key.ts";
import { claimOn, plannedClaim, takeExecutions } from "./take-executions.ts";

/** The most executions that are claimed in one round trip. */
const maxTogether = 100;

/** How many times a claim of one execution is tried if other writers keep changing it first. */
const maxTries = 20;

/** The claims of one store. */
export class Claims {
  readonly #table: ExecutionTable;
  readonly #writer: RowWriter;
  readonly #permits: PermitClaims;
  /** The executions with a permit that were due when the last claim ended with others and had no room left. */
  #owed: KeyedDue = "none";

  constructor(table: ExecutionTable, writer: RowWriter) {
    this.#table = table;
    this.#writer = writer;
    this.#permits = new PermitClaims(table, writer);
  }

  /** Claims due executions. */
  claim(asked: CheckedClaim): Promise<readonly Claim[]> {
    const { workflowId, permit } = asked;
    const options: CountedClaim = { ...asked, moves: new Moves(asked.onMore) };
    if (workflowId !== undefined) return this.#claimOne(workflowId, options);
    if (permit !== undefined) return this.#claimOfKey(permit, options);
    return this.#claimAny(options);
  }

  /** Extends the lease of a claim. */
  async renew(claim: Claim): Promise<{ readonly version: number; readonly status: Status; readonly storeNow: EpochMs }> {
    const written = await this.#writer.write(renewalOf(claim));
    if (written) return { version: written.version, status: written.status, storeNow: written.now };
    const { now, found } = await this.#table.read([claim.workflowId]);
    const { version, status } = endedClaim(claim, liveGuard(found.get(claim.workflowId)));
    return { version, status, storeNow: now };
  }

  /** Releases a claim. */
  async release(claim: Claim, version: number): Promise<void> {
    if (await this.#writer.write(releaseOf(claim, version))) return;
    keptClaim(claim, version, await this.#guardOf(claim.workflowId));
  }

  /** After executions were deleted: deletes those records of their permits and rates that are not used any more (see `countedKeys`). */
  forget(keys: readonly string[]): Promise<void> {
    return this.#permits.forgetUnused(keys);
  }

  /**
   * Claims executions of all kinds, the longest due of each kind first. Executions with and without a permit share the limit: if those
   * without a permit used it up while others with a permit were due, the next claim offers half of its limit to those with a permit first.
   * So it does if this claim has moved as many as it may.
   */
  async #claimAny(options: CountedClaim): Promise<readonly Claim[]> {
    const { limit } = options;
    const claimed: Claim[] = [];
    try {
      claimed.push(...(await this.#claimKeyed(this.#owed, options, Math.ceil(limit / 2))));
      const due = await this.#claimPlain(options, claimed);
      const isFull = claimed.length >= limit || options.moves.left === 0;
      this.#owed = isFull ? due : "none";
      if (!isFull) claimed.push(...(await this.#claimKeyed(due, options, limit - claimed.length)));
    } catch (error) {
      // the executions that were claimed already must be driven, so their claims are returned in spite of the error
      if (claimed.length === 0) throw error;
    }
    return claimed;
  }

  /** Claims executions that have a permit: first those that need none at this moment. */
  async #claimKeyed(due: KeyedDue, options: CountedClaim, limit: number): Promise<readonly Claim[]> {
    if (due === "none") return [];
    const claimed: Claim[] = [];
    try {
      if (due === "exempt") await this.#claimExempt(options, limit, claimed);
      if (claimed.length < limit) claimed.push(...(await this.#permits.claimAny(options, limit - claimed.length)));
    } catch (error) {
      if (claimed.length === 0) throw error;
    }
    return claimed;
  }

  /**
   * Claims executions that need no permit at this moment, and adds the claims to `claimed`. Those that are locked, or in task queues that this
   * process does not take, hold up no others.
   */
  async #claimExempt(options: CountedClaim, limit: number, claimed: Claim[]): Promise<void> {
    const tried = new Set<string>();
    while (claimed.length < limit) {
      // twice as many as were in vain, so that many of these cost few reads
      const wanted = limit - claimed.length + 2 * (tried.size - claimed.length);
      const found = await this.#table.exempt(wanted, options.overdueMs);
      const fresh = found.filter((guard) => !tried.has(attemptOf(guard)));
      const isTaken = ({ permit }: ExecutionGuard): boolean => takesQueueOf(partitionOf(permit?.key), options);
      const next = fresh.filter(isTaken).slice(0, limit - claimed.length);
      for (const guard of fresh) if (!isTaken(guard) || next.includes(guard)) tried.add(attemptOf(guard));
      claimed.push(...(await this.#takeExempt(next, options)));
      if (found.length < wanted || fresh.length === 0) return;
    }
  }

  /** Claims executions without one of the permits that they have a key for. */
  async #takeExempt(guards: readonly ExecutionGuard[], options: CountedClaim): Promise<readonly Claim[]> {
    const { claimed } = await takeExecutions(this.#writer, guards.map(plannedClaim), options, true);
    return claimed.map((claim) => ({ ...claim, withoutPermit: true }));
  }

  /**
   * Claims executions without a permit, and adds the claims to `claimed`. Returns which executions with a permit are due. Without any room it
   * does not ask the table and returns `none`, so executions without a permit come first in the next claim.
   */
  async #claimPlain(options: CountedClaim, claimed: Claim[]): Promise<KeyedDue> {
    const table = this.#table;
    // a process that does not take the partition of those without a permit cannot know what is due in others
    if (!takesPartition(partitionOf(null), options)) return "exempt";
    // an execution that could not be claimed, for example because its row is locked, is not tried again until its fence has changed
    const tried = new Set<string>();
    // if there are some that this process cannot run, many are looked at together, however few are wanted
    let atLeast = 0;
    for (let keyedDue: KeyedDue = "none"; ; ) {
      const wanted = Math.min(options.limit - claimed.length, maxTogether);
      if (wanted <= 0) return keyedDue;
      if (table.claimDue && !options.lacks?.size) {
        const taken = await table.claimDue({ ...options, limit: wanted, fenceStep: fenceStep() });
        ({ keyedDue } = taken);
        const held = taken.executions.map((guard) => ({ guard, claimedAt: taken.now }));
        claimed.push(...held.map((one) => claimOn(one, options)));
        if (held.length < wanted) return keyedDue;
      } else {
        const looked = Math.max(wanted, atLeast);
        const due = await table.due({ limit: looked + tried.size, overdueMs: options.overdueMs, keys: null });
        const fresh = due.executions.filter((guard) => !tried.has(attemptOf(guard))).slice(0, looked);
        const { guards, moved } = await leaveLacking(table, this.#writer, fresh, options);
        keyedDue = due.keyedDue === "none" && moved.size > 0 ? "some" : due.keyedDue;
        if (moved.size > 0) atLeast = maxTogether;
        const next = guards.slice(0, wanted);
        const later = guards.slice(wanted);
        for (const guard of fresh) if (!moved.has(guard.id) && !later.includes(guard)) tried.add(attemptOf(guard));
        claimed.push(...(await takeExecutions(this.#writer, next.map(plannedClaim), options, true)).claimed);
        const isAll = later.length === 0 && (due.executions.length < looked || fresh.length === 0);
        if (isAll || options.moves.left === 0) return keyedDue;
      }
    }
  }

  /** Claims executions with a concurrency key, in the partitions of all task queues that are named. */
  #claimOfKey(key: string, options: CountedClaim): Promise<readonly Claim[]> {
    const { taskQueues = [defaultTaskQueue] } = options;
    const named = taskQueues.map((name) => rowKeyOf({ taskQueue: namedQueue(name), definition: null, key })!);
    return this.#permits.claimOfKeys(named, options);
  }

  /** Whether this process claims an execution. One that it cannot run is moved out of the way. */
  async #isTaken(guard: ExecutionGuard, options: CountedClaim): Promise<boolean> {
    if (!takesPartition(partitionOf(guard.permit?.key), options)) return false;
    return (await leaveLacking(this.#table, this.#writer, [guard], options)).guards.length > 0;
  }

  async #claimOne(workflowId: string, options: CountedClaim): Promise<readonly Claim[]> {
    const { overdueMs } = options;
    for (let tries = 0; tries < maxTries; tries++) {
      const { now, found } = await this.#table.read([workflowId]);
      const guard = found.get(workflowId);
      if (!guard || !(isDue(guard, now, overdueMs) || (await this.#isEnding(guard)))) return [];
      if (!(await this.#isTaken(guard, options))) return [];
      if (guard.permit && isLimited(guard.permit.key)) {
        const claimed = await this.#permits.claimOfKeys([guard.permit.key], { ...options, limit: 1 }, guard);
        return claimed.length > 0 || !isExempt(guard, now, overdueMs) ? claimed : this.#takeExempt([guard], options);
      }
      const { claimed, missed } = await takeExecutions(this.#writer, [plannedClaim(guard)], options, false);
      if (missed.length === 0) return claimed;
    }
    return [];
  }

  /**
   * Returns true if an execution in the line of a rate only has to end, for example because it was cancelled and still has to tell its parent.
   * Its head is read only if somebody has committed to it since its start.
   */
  async #isEnding(guard: ExecutionGuard): Promise<boolean> {
    if (guard.deletedAt !== null || !waitsForRate(guard) || guard.version === 0) return false;
    return (await presentRates(this.#table, [guard], {})).get(guard.id)?.waitsUntil === 0;
  }

  async #guardOf(workflowId: string): Promise<ExecutionGuard | null> {
    return liveGuard((await this.#table.read([workflowId])).found.get(workflowId));
  }
}

/** Returns true if claims of a partition are limited, by a concurrency key or a rate. */
function isLimited(rowKey: string): boolean {
  return partitionOf(rowKey).key !== null;
}
