import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../checked-store.ts";
import type { ExecutionGuard, ExecutionTable } from "../execution-table.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { releaseOf, renewalOf } from "../writing/row-writes.ts";
import { endedClaim, keptClaim } from "../writing/verdict.ts";
import { fenceStep } from "./fence.ts";
import { attemptOf, isDue, liveGuard } from "./guard.ts";
import { PermitClaims } from "./permits.ts";
import { claimOn, plannedClaim, takeExecutions } from "./take-executions.ts";

/** Most executions that are claimed at once. */
const maxTogether = 100;

/** How often a claim of one execution is tried while others change it. */
const maxTries = 20;

/** Claims of one store: who may drive which execution. */
export class Claims {
  readonly #table: ExecutionTable;
  readonly #writer: RowWriter;
  readonly #permits: PermitClaims;
  /** Executions with a permit found no room in the last claim, because others took all of it. */
  #permitsAreOwed = false;

  constructor(table: ExecutionTable, writer: RowWriter) {
    this.#table = table;
    this.#writer = writer;
    this.#permits = new PermitClaims(table, writer);
  }

  /** Claims what is due. */
  claim(options: CheckedClaim): Promise<readonly Claim[]> {
    const { workflowId, permit } = options;
    if (workflowId !== undefined) return this.#claimOne(workflowId, options);
    if (permit !== undefined) return this.#permits.claimOfKey(permit, options);
    return this.#claimAny(options);
  }

  /** Prolongs a claim. */
  async renew(claim: Claim): Promise<{ readonly version: number; readonly status: Status; readonly storeNow: EpochMs }> {
    const written = await this.#writer.write(renewalOf(claim));
    if (written) return { version: written.version, status: written.status, storeNow: written.now };
    const { now, found } = await this.#table.read([claim.workflowId]);
    const { version, status } = endedClaim(claim, liveGuard(found.get(claim.workflowId)));
    return { version, status, storeNow: now };
  }

  /** Gives a claim back. */
  async release(claim: Claim, version: number): Promise<void> {
    if (await this.#writer.write(releaseOf(claim, version))) return;
    keptClaim(claim, version, await this.#guardOf(claim.workflowId));
  }

  /** After executions were deleted: keys that they shared, and that are not used any more, leave nothing behind. */
  forgetPermits(deleted: readonly ExecutionGuard[]): Promise<void> {
    return this.#permits.forgetUnused([...new Set(deleted.flatMap(({ permit }) => permit?.key ?? []))]);
  }

  /**
   * Fairness: of each kind the longest due comes first. Those with a permit and those without share the room: where those
   * without took all of it, the next claim gives half of it to the others.
   */
  async #claimAny(options: CheckedClaim): Promise<readonly Claim[]> {
    const { limit } = options;
    const claimed: Claim[] = [];
    try {
      if (this.#permitsAreOwed) claimed.push(...(await this.#permits.claimAny(options, Math.ceil(limit / 2))));
      const areKeysDue = await this.#claimPlain(options, claimed);
      const isFull = claimed.length >= limit;
      this.#permitsAreOwed = areKeysDue && isFull;
      if (areKeysDue && !isFull) claimed.push(...(await this.#permits.claimAny(options, limit - claimed.length)));
    } catch (error) {
      // what was claimed is to be driven, whatever became of the rest
      if (claimed.length === 0) throw error;
    }
    return claimed;
  }

  /**
   * Claims executions without a permit, and adds them to what was claimed. Tells whether some with a permit are due, as far as it
   * was asked: where there is no room at all, it is the turn of those without a permit the next time.
   */
  async #claimPlain(options: CheckedClaim, claimed: Claim[]): Promise<boolean> {
    const table = this.#table;
    // what was lost to another process, or given back, is not tried twice
    const tried = new Set<string>();
    for (let areKeysDue = false; ; ) {
      const wanted = Math.min(options.limit - claimed.length, maxTogether);
      if (wanted <= 0) return areKeysDue;
      if (table.claimDue) {
        const taken = await table.claimDue({ ...options, limit: wanted, fenceStep: fenceStep() });
        ({ areKeysDue } = taken);
        const held = taken.executions.map((guard) => ({ guard, claimedAt: taken.now }));
        claimed.push(...held.map((one) => claimOn(one, options)));
        if (held.length < wanted) return areKeysDue;
      } else {
        const due = await table.due({ limit: wanted + tried.size, overdueMs: options.overdueMs, keys: null });
        ({ areKeysDue } = due);
        const fresh = due.executions.filter((guard) => !tried.has(attemptOf(guard))).slice(0, wanted);
        for (const guard of fresh) tried.add(attemptOf(guard));
        claimed.push(...(await takeExecutions(this.#writer, fresh.map(plannedClaim), options, true)).claimed);
        if (due.executions.length < wanted || fresh.length === 0) return areKeysDue;
      }
    }
  }

  async #claimOne(workflowId: string, options: CheckedClaim): Promise<readonly Claim[]> {
    const { overdueMs } = options;
    for (let tries = 0; tries < maxTries; tries++) {
      const { now, found } = await this.#table.read([workflowId]);
      const guard = found.get(workflowId);
      if (!guard || !isDue(guard, now, overdueMs)) return [];
      if (guard.permit) return this.#permits.claimOfKey(guard.permit.key, { ...options, limit: 1 }, guard);
      const { claimed, missed } = await takeExecutions(this.#writer, [plannedClaim(guard)], options, false);
      if (missed.length === 0) return claimed;
    }
    return [];
  }

  async #guardOf(workflowId: string): Promise<ExecutionGuard | null> {
    return liveGuard((await this.#table.read([workflowId])).found.get(workflowId));
  }
}
