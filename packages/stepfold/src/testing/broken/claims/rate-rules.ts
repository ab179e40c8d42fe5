import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Rate } from "../../../core/values/shared-keys.ts";
import type { Claim, ClaimOptions, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered } from "../broken-store.ts";

/** The rules by which a store lets executions with a rate begin. Each rule that is left out is the correct one. */
export interface RateRules {
  /** The largest number of executions that may begin in a period. Default: the limit of the rate. */
  readonly limitOf?: (rate: Rate) => number;
  /** The key that is compared. Default: the key as it is. */
  readonly keyOf?: (key: string) => string;
  /** When the period that is counted began. Default: `periodMs` ago. */
  readonly sinceOf?: (now: EpochMs, rate: Rate) => EpochMs;
  /** Later claims of an execution count and wait too, not only its first claim. */
  readonly countsLater?: true;
  /** An execution need not wait any more after a commit that does not come from a holder. */
  readonly freesCommitted?: true;
  /** Executions that have ended do not count any more. */
  readonly forgetsEnded?: true;
  /** A first claim whose holder was lost does not count any more. */
  readonly forgetsLost?: true;
  /** The execution that was created last begins first. */
  readonly reversed?: true;
  /** An execution that has to wait holds up all executions after it, even those with other keys. */
  readonly queuesAll?: true;
  /** A claim by id need not wait for the rate. */
  readonly ignoresIds?: true;
  /** The rates that a claim names as the current ones are ignored. */
  readonly ignoresToday?: true;
  /** The first of the current rates of a claim is used for every workflow. */
  readonly confusesWorkflows?: true;
  /** A claim of overdue executions gives any due ones. */
  readonly ignoresOverdue?: true;
  /** A claim takes everything that may begin, whatever number it is asked for. */
  readonly ignoresNumber?: true;
  /** A new execution with a rate can be claimed with its creation. */
  readonly claimsAtCreation?: true;
  /** Counts the executions that began first, and claims one a moment later. */
  readonly countsFirst?: true;
  /** An execution waits for its rate beyond its deadline. */
  readonly ignoresDeadlines?: true;
  /** An execution that is claimed only to end counts. */
  readonly countsEnds?: true;
  /** An execution that only has to tell its end waits for its rate. */
  readonly holdsEnds?: true;
  /** Shows executions that wait for their rate as held. */
  readonly showsHolder?: true;
}

interface Known {
  readonly id: string;
  readonly name: string;
  readonly rate: Rate | undefined;
  /** True once the execution has been claimed: later claims need not wait. */
  isFree: boolean;
  /** The time from which the execution is claimed only to end. */
  endsAt: EpochMs;
}

/** Makes a store whose executions begin by its own rules. */
export function withRateRules(store: SnapshotStore, rules: RateRules): SnapshotStore {
  const book = new RateBook(store, rules);
  return altered(store, {
    async create(commit, options) {
      const { rate } = commit.head;
      book.know(commit);
      if (!rate) return store.create(commit, options);
      await store.create(plain(commit));
      if (!options?.claim || !rules.claimsAtCreation) return null;
      return (await book.claim({ ...options.claim, limit: 1, workflowId: commit.workflowId }))[0] ?? null;
    },
    async load(id) {
      const snapshot = await store.load(id);
      const rate = book.rateOf(id);
      return snapshot && rate ? { ...snapshot, rate } : snapshot;
    },
    claim: (options) => book.claim(options),
    async commit(commit) {
      await store.commit(plain(commit));
      book.committed(commit);
    },
    async list(query) {
      const page = await store.list(query);
      if (!rules.showsHolder) return page;
      const lease = { owner: "(rate limit)", until: 0, crashes: 0 };
      return { ...page, items: page.items.map((item) => (book.waits(item.workflowId) ? { ...item, lease } : item)) };
    },
  });
}

/** Knows when executions began, and decides which ones may begin. */
class RateBook {
  readonly #store: SnapshotStore;
  readonly #rules: RateRules;
  readonly #known = new Map<string, Known>();
  #begun: { readonly key: string; readonly id: string; readonly at: EpochMs }[] = [];
  #lastClaim: Promise<unknown> = Promise.resolve();

  constructor(store: SnapshotStore, rules: RateRules) {
    this.#store = store;
    this.#rules = rules;
  }

  know({ workflowId: id, head: { rate, definition, deadlineAt } }: Commit): void {
    const endsAt = this.#rules.ignoresDeadlines ? Number.POSITIVE_INFINITY : (deadlineAt ?? Number.POSITIVE_INFINITY);
    if (!this.#known.has(id)) this.#known.set(id, { id, name: definition.id, rate, isFree: false, endsAt });
  }

  rateOf(id: string): Rate | undefined {
    return this.#known.get(id)?.rate;
  }

  waits(id: string): boolean {
    const known = this.#known.get(id);
    return known?.rate !== undefined && !known.isFree;
  }

  committed({ workflowId: id, fence, head: { status, activePaths } }: Commit): void {
    const known = this.#known.get(id);
    if (known && activePaths.length === 0 && !this.#rules.holdsEnds) known.endsAt = 0;
    if (known && this.#rules.freesCommitted && fence === undefined) known.isFree = true;
    if (this.#rules.forgetsEnded && isTerminal(status)) this.#begun = this.#begun.filter((one) => one.id !== id);
  }

  /**
   * Claims executions. Each call waits for the one before, so that it counts the executions which that one has begun; not with the rule
   * `countsFirst`.
   */
  claim(options: ClaimOptions): Promise<Claim[]> {
    if (this.#rules.countsFirst) return this.#claimNext(options);
    const claim = this.#lastClaim.then(() => this.#claimNext(options));
    this.#lastClaim = claim.catch(() => undefined);
    return claim;
  }

  async #claimNext(options: ClaimOptions): Promise<Claim[]> {
    const { workflowId, limit, rates = {} } = options;
    const now = await this.#store.now();
    const asked = [...this.#known.values()].filter(({ id }) => workflowId === undefined || id === workflowId);
    const found: Claim[] = [];
    for (const one of this.#rules.reversed ? asked.reverse() : asked) {
      if (found.length >= limit && !this.#rules.ignoresNumber) break;
      const rate = this.#today(one, rates);
      const isEnding = one.endsAt <= now;
      if (rate && !isEnding && this.#mustWait(one) && !this.#hasRoom(rate, now) && !(this.#rules.ignoresIds && workflowId !== undefined)) {
        if (this.#rules.queuesAll) break;
        continue;
      }
      found.push(...(await this.#take(one, options, !isEnding || this.#rules.countsEnds === true)));
    }
    return found;
  }

  #mustWait({ isFree }: Known): boolean {
    return !isFree || this.#rules.countsLater === true;
  }

  #today({ rate, name }: Known, rates: NonNullable<ClaimOptions["rates"]>): Rate | null {
    const { ignoresToday, confusesWorkflows } = this.#rules;
    if (!rate || ignoresToday) return rate ?? null;
    const which = confusesWorkflows ? Object.keys(rates)[0] : name;
    const current = which !== undefined && Object.hasOwn(rates, which) ? rates[which]! : rate;
    return current && { ...rate, ...current };
  }

  #hasRoom(rate: Rate, now: EpochMs): boolean {
    const { limitOf, sinceOf } = this.#rules;
    const since = sinceOf?.(now, rate) ?? now - rate.periodMs;
    const key = this.#keyOf(rate);
    return this.#begun.filter((one) => one.key === key && one.at > since).length < (limitOf?.(rate) ?? rate.limit);
  }

  #keyOf({ key }: Rate): string {
    return this.#rules.keyOf?.(key) ?? key;
  }

  async #take(one: Known, { overdueMs, ...rest }: ClaimOptions, counts: boolean): Promise<Claim[]> {
    const asked = overdueMs === undefined || this.#rules.ignoresOverdue ? rest : { ...rest, overdueMs };
    const [claimed] = await this.#store.claim({ ...asked, limit: 1, workflowId: one.id });
    if (!claimed) return [];
    if (this.#rules.forgetsLost && claimed.expired > 0) this.#begun = this.#begun.filter(({ id }) => id !== one.id);
    else if (one.rate && counts && this.#mustWait(one)) this.#begun.push({ key: this.#keyOf(one.rate), id: one.id, at: claimed.claimedAt });
    one.isFree = true;
    return [claimed];
  }
}

/** Removes the rate, so that the store underneath lets the execution begin at once. */
function plain(commit: Commit): Commit {
  const { rate: _, ...head } = commit.head;
  return { ...commit, head };
}
