import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Rate } from "../../core/values/shared-keys.ts";
import type { Claim, ClaimOptions, Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "./broken-store.ts";

/** How a store lets executions begin. */
export interface RateRules {
  readonly limitOf?: (rate: Rate) => number;
  readonly keyOf?: (key: string) => string;
  /** When the time counts in which so many may begin; default: since `periodMs`. */
  readonly sinceOf?: (now: EpochMs, rate: Rate) => EpochMs;
  /** Also later claims count, and wait. */
  readonly countsLater?: true;
  /** Every wait of an execution is over when somebody commits to it. */
  readonly freesCommitted?: true;
  /** What has ended counts no more. */
  readonly forgetsEnded?: true;
  /** What never began counts no more. */
  readonly forgetsLost?: true;
  readonly reversed?: true;
  readonly queuesAll?: true;
  readonly ignoresIds?: true;
  readonly ignoresToday?: true;
  /** The rate of any workflow of today counts for all. */
  readonly confusesWorkflows?: true;
  readonly ignoresOverdue?: true;
  readonly claimsAtCreation?: true;
  /** Counts those that began, and claims one a moment later. */
  readonly countsFirst?: true;
  /** Shows who waits as held. */
  readonly showsHolder?: true;
}

interface Known {
  readonly id: string;
  readonly name: string;
  readonly rate: Rate | undefined;
  isFree: boolean;
}

/** A store whose executions begin by rules of its own. */
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

/** When executions began, and which may begin. */
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

  know({ workflowId: id, head: { rate, definition } }: Commit): void {
    if (!this.#known.has(id)) this.#known.set(id, { id, name: definition.id, rate, isFree: false });
  }

  rateOf(id: string): Rate | undefined {
    return this.#known.get(id)?.rate;
  }

  waits(id: string): boolean {
    const known = this.#known.get(id);
    return known?.rate !== undefined && !known.isFree;
  }

  committed({ workflowId: id, fence, head: { status } }: Commit): void {
    const known = this.#known.get(id);
    if (known && this.#rules.freesCommitted && fence === undefined) known.isFree = true;
    if (this.#rules.forgetsEnded && isTerminal(status)) this.#begun = this.#begun.filter((one) => one.id !== id);
  }

  /** One claim after the other: what one has begun, the next one counts. */
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
      if (found.length >= limit) break;
      const rate = this.#today(one, rates);
      if (rate && this.#mustWait(one) && !this.#hasRoom(rate, now) && !(this.#rules.ignoresIds && workflowId !== undefined)) {
        if (this.#rules.queuesAll) break;
        continue;
      }
      found.push(...(await this.#take(one, options)));
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

  async #take(one: Known, { overdueMs, ...rest }: ClaimOptions): Promise<Claim[]> {
    const asked = overdueMs === undefined || this.#rules.ignoresOverdue ? rest : { ...rest, overdueMs };
    const [claimed] = await this.#store.claim({ ...asked, limit: 1, workflowId: one.id });
    if (!claimed) return [];
    if (this.#rules.forgetsLost && claimed.expired > 0) this.#begun = this.#begun.filter(({ id }) => id !== one.id);
    else if (one.rate && this.#mustWait(one)) this.#begun.push({ key: this.#keyOf(one.rate), id: one.id, at: claimed.claimedAt });
    one.isFree = true;
    return [claimed];
  }
}

/** Takes the rate out, so that the store underneath lets it begin at once. */
function plain(commit: Commit): Commit {
  const { rate: _, ...head } = commit.head;
  return { ...commit, head };
}
