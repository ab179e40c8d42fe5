import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { persist } from "../context/store/persist.ts";
import type { TimedClaim } from "../context/timed-claim.ts";
import { giveBack } from "../local/give-back.ts";

/** The claim of a session, and how long it still holds. */
export class SessionLease {
  readonly #context: RuntimeContext;
  #claim!: Claim;
  /** What the store's clock showed at the claim, or at the latest renewal that found it ahead, and the monotonic clock at that moment. */
  #reading!: { readonly storeMs: EpochMs; readonly monotonicMs: number };
  /** The end of the lease, on the monotonic clock. After that another process may hold the execution. */
  #untilMs!: number;
  /** A commit was made under this claim. */
  #hasCommitted!: boolean;

  constructor(context: RuntimeContext, claim: TimedClaim) {
    this.#context = context;
    this.adopt(claim);
  }

  get claim(): Claim {
    return this.#claim;
  }

  /** Replaces the claim by a newer one. */
  adopt({ claim, askedAtMs }: TimedClaim): void {
    this.#claim = claim;
    this.#hasCommitted = false;
    this.#reading = { storeMs: this.#claim.claimedAt, monotonicMs: this.#context.environment.monotonicMs() };
    this.#untilMs = askedAtMs + this.#claim.leaseMs;
  }

  /** Notes that a commit was made: from now on the earlier claims that ran out do not count. */
  committed(): void {
    this.#hasCommitted = true;
  }

  /** The claim with its current counts: after a commit, `expired` and `crashes` are 0. */
  get #counted(): Claim {
    return this.#hasCommitted ? { ...this.#claim, expired: 0, crashes: 0 } : this.#claim;
  }

  get isOver(): boolean {
    return this.#context.environment.monotonicMs() >= this.#untilMs;
  }

  /** The error of a session whose lease is over. */
  get lost(): StepfoldError {
    return new StepfoldError("FENCE_LOST", { workflowId: this.claim.workflowId });
  }

  /** The time of the store: what its clock showed at the moment of `#reading`, plus the time that has passed since. */
  storeNow(): EpochMs {
    const { storeMs, monotonicMs } = this.#reading;
    return storeMs + Math.floor(this.#context.environment.monotonicMs() - monotonicMs);
  }

  /** Repeats a store call while the store does not answer, as long as the lease lasts. */
  persist<T>(call: () => Promise<T>): Promise<T> {
    return persist(this.#context.environment, () => this.#untilMs, call);
  }

  /** Loads the execution, and tries again while the store does not answer: without it, steps that are done would be performed again. */
  load(): Promise<Snapshot | null> {
    return this.persist(() => this.#context.store.load(this.claim.workflowId));
  }

  /** Gives the claim back. Resolves to null, or to the stored snapshot if another writer has committed, with which the session goes on. */
  async release(version: number): Promise<Snapshot | null> {
    try {
      await this.persist(() => this.#context.store.release(this.#counted, version));
      return null;
    } catch (error) {
      if (StepfoldError.is(error, "VERSION_CONFLICT")) return this.load();
      throw error;
    }
  }

  /** Gives the claim back although work is left. @param isCrash whether the claim counts as lost by a crash of its process */
  async giveUp(version: number, isCrash: boolean): Promise<void> {
    const { expired, crashes } = this.#counted;
    const lost = Number(isCrash);
    const claim = { ...this.#counted, expired: expired + lost, crashes: crashes + lost };
    await this.persist(() => giveBack(this.#context.store, claim, version));
  }

  /**
   * Prolongs the claim. `isClockAhead` is true if the store's clock has moved further than the monotonic clock of this process, which
   * stands still while the machine sleeps.
   *
   * @throws StepfoldError `FENCE_LOST` if another process holds the execution, `STORE_UNAVAILABLE`
   */
  async renew(): Promise<Awaited<ReturnType<SnapshotStore["renew"]>> & { readonly isClockAhead: boolean }> {
    const { store, environment, clock } = this.#context;
    const askedAtMs = environment.monotonicMs();
    const { claim } = this;
    const renewed = await store.renew(this.#counted);
    clock.observe(renewed.storeNow);
    if (this.claim === claim) this.#untilMs = askedAtMs + claim.leaseMs;
    const isClockAhead = renewed.storeNow > this.storeNow();
    if (isClockAhead) this.#reading = { storeMs: renewed.storeNow, monotonicMs: environment.monotonicMs() };
    return { ...renewed, isClockAhead };
  }
}
