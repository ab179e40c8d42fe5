import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal, type Snapshot, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import { exemptAtOf } from "../../../ports/exempt-at.ts";
import type { Claim, ClaimOptions, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered } from "../broken-store.ts";

/**
 * How a claim may end. "release" is a call of `release`, "commit" a commit with `release`, and "end" the commit with which the
 * holder ends the execution. With "foreign end" another caller ends the execution, and with "lease" the lease runs out.
 */
type Ending = "release" | "commit" | "end" | "foreign end" | "lease";

/** The rules by which a store gives permits. Each rule that is left out is the correct one. */
export interface PermitRules {
  /** The endings of a claim that free its permit. Default: all. */
  readonly frees?: readonly Ending[];
  /** The key that is compared. Default: the key as it is. */
  readonly keyOf?: (key: string) => string;
  /** The largest number of permits. Default: the limit of the permit. */
  readonly limitOf?: (permit: Permit) => number;
  /** False: a renewal of a claim does not keep its permit. Default: true. */
  readonly renews?: boolean;
  /** Also renews a claim whose permit was given to another execution. */
  readonly revives?: true;
  /** Gives a permit to the execution that has been due for the shortest time. */
  readonly reversed?: true;
  /** Prefers executions without a permit. */
  readonly plainFirst?: true;
  /** Counts the permits first, and takes one a moment later. */
  readonly countsFirst?: true;
  /** An execution that waits for a permit holds up all executions after it, even those with other keys. */
  readonly queuesAll?: true;
  /** A claim by id needs no permit. */
  readonly ignoresIds?: true;
  /** A claim by key gives executions with any key. */
  readonly ignoresKeys?: true;
  /** A claim of overdue executions gives any due ones. */
  readonly ignoresOverdue?: true;
  /** A new execution with a permit can be claimed with its creation. */
  readonly claimsAtCreation?: true;
  /** From when an execution is claimed without a permit. Default: from its deadline; at once if it has messages to deliver. */
  readonly exemptAtOf?: (head: SnapshotHead) => EpochMs | null;
  /** The deadline that an execution had at its start counts for ever. */
  readonly keepsDeadlines?: true;
  /** A claim by id gets no execution without a permit. */
  readonly exemptsNoIds?: true;
  /** An execution that was claimed without a permit counts like the others. */
  readonly countsExempt?: true;
  /** A claim does not tell that it was made without a permit. */
  readonly hidesExempt?: true;
  /** An execution is claimed without a permit only once. */
  readonly exemptsOnce?: true;
  /** Of executions that need no permit, the one with the latest deadline comes first. */
  readonly latestExemptFirst?: true;
  /** The first claim by its id of an execution whose lease has ended gets nothing. */
  readonly restsLost?: true;
}

interface Known {
  readonly id: string;
  readonly permit: Permit | undefined;
  readonly wakeAt: EpochMs;
  /** From when it is claimed without a permit; null: never. */
  exemptAt: EpochMs | null;
}

interface Holder {
  readonly key: string;
  until: EpochMs;
}

/** Makes a store that gives permits by its own rules. */
export function withPermitRules(store: SnapshotStore, rules: PermitRules): SnapshotStore {
  const turns = new PermitBook(store, rules);
  return altered(store, {
    async create(commit, options) {
      const { permit } = commit.head;
      turns.know(commit);
      const claim = await store.create(permit ? disguised(commit) : commit, options);
      if (!permit || !options?.claim || !rules.claimsAtCreation) return claim;
      return (await turns.claim({ ...options.claim, limit: 1, workflowId: commit.workflowId }))[0] ?? null;
    },
    async load(id) {
      const snapshot = await store.load(id);
      return snapshot && turns.shown(snapshot);
    },
    claim: (options) => turns.claim(options),
    async commit(commit) {
      await store.commit(commit);
      turns.committed(commit);
      const ended = isTerminal(commit.head.status);
      if (ended) turns.free(commit.workflowId, commit.fence === undefined ? "foreign end" : "end");
      else if (commit.release) turns.free(commit.workflowId, "commit");
    },
    renew: (claim) => turns.renew(claim),
    async release(claim, version) {
      await store.release(claim, version);
      turns.free(claim.workflowId, "release");
    },
  });
}

/** Knows the held permits, and decides which executions may get one. */
class PermitBook {
  readonly #store: SnapshotStore;
  readonly #rules: PermitRules;
  readonly #known: Known[] = [];
  readonly #holders = new Map<string, Holder>();
  /** The latest call of `claim`; the next call waits for it. */
  #lastClaim: Promise<unknown> = Promise.resolve();

  constructor(store: SnapshotStore, rules: PermitRules) {
    this.#store = store;
    this.#rules = rules;
  }

  know({ workflowId: id, head, wakeAt }: Commit): void {
    const exemptAt = this.#exemptAtOf(head);
    if (!this.#known.some((one) => one.id === id)) this.#known.push({ id, permit: head.permit, wakeAt: wakeAt ?? 0, exemptAt });
  }

  committed({ workflowId, head }: Commit): void {
    const known = this.#known.find(({ id }) => id === workflowId);
    if (known && !this.#rules.keepsDeadlines) known.exemptAt = this.#exemptAtOf(head);
  }

  shown(snapshot: Snapshot): Snapshot {
    const permit = this.#known.find(({ id }) => id === snapshot.workflowId)?.permit;
    return permit ? { ...snapshot, permit } : snapshot;
  }

  free(id: string, how: Ending): void {
    if (this.#frees(how)) this.#holders.delete(id);
  }

  /** Claims executions. Each call waits for the one before, to count the permits which that one has taken; not with `countsFirst`. */
  claim(options: ClaimOptions): Promise<Claim[]> {
    if (this.#rules.countsFirst) return this.#claimNext(options);
    const claim = this.#lastClaim.then(() => this.#claimNext(options));
    this.#lastClaim = claim.catch(() => undefined);
    return claim;
  }

  async #claimNext(options: ClaimOptions): Promise<Claim[]> {
    const { queuesAll, countsFirst } = this.#rules;
    const now = await this.#store.now();
    if (this.#rules.restsLost && options.workflowId !== undefined && this.#forgetLost(options.workflowId, now)) return [];
    const found: Claim[] = [];
    const chosen: Known[] = [];
    for (const one of this.#known.toSorted((a, b) => this.#order(a, b))) {
      if (found.length + chosen.length >= options.limit) break;
      if (!this.#isAsked(one, options)) continue;
      if (!this.#mayTake(one, now) && !(this.#rules.ignoresIds && options.workflowId !== undefined)) {
        if (this.#isExempt(one, now, options)) found.push(...(await this.#takeExempt(one, options)));
        else if (queuesAll && !this.#holders.has(one.id)) break;
      } else if (countsFirst) chosen.push(one);
      else found.push(...(await this.#take(one, options)));
    }
    for (const one of chosen) found.push(...(await this.#take(one, options)));
    return found;
  }

  /** Takes the permit of a holder whose lease has ended. Returns false if there is none. */
  #forgetLost(id: string, now: EpochMs): boolean {
    const holder = this.#holders.get(id);
    return holder !== undefined && holder.until <= now && this.#holders.delete(id);
  }

  async renew(claim: Claim): Promise<Awaited<ReturnType<SnapshotStore["renew"]>>> {
    const { revives, renews = true } = this.#rules;
    const holder = this.#holders.get(claim.workflowId);
    const one = this.#known.find(({ id }) => id === claim.workflowId);
    if (holder && one && !revives) {
      const now = await this.#store.now();
      if (holder.until <= now && !this.#mayTake(one, now)) throw new StepfoldError("FENCE_LOST", { workflowId: claim.workflowId });
    }
    const renewed = await this.#store.renew(claim);
    if (holder && renews) holder.until = renewed.storeNow + claim.leaseMs;
    return renewed;
  }

  #exemptAtOf(head: SnapshotHead): EpochMs | null {
    return (this.#rules.exemptAtOf ?? exemptAtOf)(head);
  }

  #isExempt({ exemptAt }: Known, now: EpochMs, { workflowId, permit, overdueMs = 0 }: ClaimOptions): boolean {
    if (exemptAt === null || permit !== undefined || (workflowId !== undefined && this.#rules.exemptsNoIds)) return false;
    return exemptAt <= Math.max(0, now - overdueMs);
  }

  async #takeExempt(one: Known, options: ClaimOptions): Promise<Claim[]> {
    const { countsExempt, hidesExempt } = this.#rules;
    const taken = await this.#take(countsExempt ? one : { ...one, permit: undefined }, options);
    if (taken.length > 0 && this.#rules.exemptsOnce) one.exemptAt = null;
    return taken.map((claim) => ({ ...claim, ...(!hidesExempt && { withoutPermit: true }) }));
  }

  #order(a: Known, b: Known): number {
    const { plainFirst, reversed } = this.#rules;
    if (plainFirst && !a.permit !== !b.permit) return a.permit ? 1 : -1;
    const [first, second] = [a, b].map(({ exemptAt }) => exemptAt ?? Number.POSITIVE_INFINITY);
    if (first !== second) return first! < second! === !this.#rules.latestExemptFirst ? -1 : 1;
    return reversed ? b.wakeAt - a.wakeAt : a.wakeAt - b.wakeAt;
  }

  #frees(how: Ending): boolean {
    return this.#rules.frees?.includes(how) ?? true;
  }

  #keyOf({ key }: Permit): string {
    return this.#rules.keyOf?.(key) ?? key;
  }

  #isAsked({ id, permit }: Known, { workflowId, permit: key }: ClaimOptions): boolean {
    if (workflowId !== undefined) return id === workflowId;
    return key === undefined || this.#rules.ignoresKeys === true || permit?.key === key;
  }

  #mayTake({ id, permit }: Known, now: EpochMs): boolean {
    if (!permit) return true;
    const key = this.#keyOf(permit);
    const held = [...this.#holders].filter(
      ([other, holder]) => other !== id && holder.key === key && (holder.until > now || !this.#frees("lease")),
    );
    return held.length < (this.#rules.limitOf?.(permit) ?? permit.limit);
  }

  async #take({ id, permit }: Known, { permit: _, overdueMs, ...rest }: ClaimOptions): Promise<Claim[]> {
    const asked = overdueMs === undefined || this.#rules.ignoresOverdue ? rest : { ...rest, overdueMs };
    const [claimed] = await this.#store.claim({ ...asked, limit: 1, workflowId: id });
    if (!claimed) return [];
    const { claimedAt, leaseMs } = claimed;
    if (permit) this.#holders.set(id, { key: this.#keyOf(permit), until: claimedAt + leaseMs });
    return [claimed];
  }
}

/** Replaces the permit by one without a real limit, so that the store underneath does not refuse a claim. */
function disguised(commit: Commit): Commit {
  return { ...commit, head: { ...commit.head, permit: { key: `of ${commit.workflowId}`, limit: 10_000 } } };
}
