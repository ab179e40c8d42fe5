import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { Environment } from "../../ports/environment.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** The shortest time between two looks that hints cause, so that many hints do not cause many queries. */
const minGapMs = 5;

/** A caller that waits for a change of an execution. */
export interface Looker {
  /** True while this process runs the execution: then it publishes every change, and there is nothing to look for. */
  isTold(): boolean;
  /** True if the caller knows this version, or a later one. */
  knows(version: number): boolean;
  /** Takes what a look has found. Null: the execution does not exist. */
  see(head: SnapshotHead | null): void;
  /** Takes the error of a look: the store did not answer. */
  fail(error: unknown): void;
}

interface LooksOptions {
  readonly store: Pick<SnapshotStore, "loadHead">;
  readonly environment: Environment;
  readonly pollMs: number;
  /** Called when a caller begins to wait. */
  readonly onAdd: () => void;
}

/**
 * Looks at the executions for which callers in this process wait: every `pollMs` at all of them, and at once at those that have changed
 * according to a hint. One look serves all callers that wait for an execution, and the store reads many heads in one round trip.
 */
export class Looks {
  readonly #options: LooksOptions;
  readonly #lookers = new Map<string, Set<Looker>>();
  /** Executions that are being read. */
  readonly #inFlight = new Set<string>();
  #hinted = new Set<string>();
  /** Hints cause no look before this time on the monotonic clock. */
  #hintsFrom = Number.NEGATIVE_INFINITY;
  /** A look at the executions in `#hinted` is going to happen. */
  #isHinted = false;
  #cancelPoll: (() => void) | null = null;

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  /** Looks at an execution from now on. Returns a function that ends this. */
  add(workflowId: string, looker: Looker): () => void {
    const lookers = this.#lookers.get(workflowId) ?? new Set();
    this.#lookers.set(workflowId, lookers);
    lookers.add(looker);
    this.#options.onAdd();
    if (!this.#cancelPoll) this.#pollLater();
    return () => {
      lookers.delete(looker);
      if (lookers.size > 0 || this.#lookers.get(workflowId) !== lookers) return;
      this.#lookers.delete(workflowId);
      if (this.#lookers.size > 0) return;
      this.#cancelPoll?.();
      this.#cancelPoll = null;
    };
  }

  /**
   * Looks at an execution soon, because it may have changed.
   *
   * @param version its version after the change; if all know it, no look follows
   */
  hint(workflowId: string, version: number): void {
    const lookers = this.#lookers.get(workflowId);
    if (!lookers || [...lookers].every((looker) => looker.isTold() || looker.knows(version))) return;
    this.#hintAnew(workflowId);
  }

  /** Looks at all executions soon, because any of them may have changed. */
  hintAll(): void {
    for (const workflowId of this.#lookers.keys()) this.#hintAnew(workflowId);
  }

  #hintAnew(workflowId: string): void {
    this.#hinted.add(workflowId);
    if (this.#isHinted) return;
    this.#isHinted = true;
    const { environment } = this.#options;
    const delayMs = this.#hintsFrom - environment.monotonicMs();
    if (delayMs > 0) environment.after(delayMs, () => this.#lookAtHinted());
    // hints of the same moment cause one look
    else queueMicrotask(() => this.#lookAtHinted());
  }

  #lookAtHinted(): void {
    this.#isHinted = false;
    const hinted = this.#hinted;
    this.#hinted = new Set();
    this.#hintsFrom = this.#options.environment.monotonicMs() + minGapMs;
    for (const workflowId of hinted) {
      // the read in flight may have begun before the change of the hint
      if (this.#inFlight.has(workflowId)) this.#hintAnew(workflowId);
      else this.#look(workflowId);
    }
  }

  #pollLater(): void {
    const { environment, pollMs } = this.#options;
    this.#cancelPoll = environment.after(
      pollMs,
      () => {
        this.#pollLater();
        for (const workflowId of this.#lookers.keys()) if (!this.#inFlight.has(workflowId)) this.#look(workflowId);
      },
      { poll: true },
    );
  }

  #look(workflowId: string): void {
    const waiting = [...(this.#lookers.get(workflowId) ?? [])];
    if (waiting.every((looker) => looker.isTold())) return;
    this.#inFlight.add(workflowId);
    const over = (): Looker[] => {
      this.#inFlight.delete(workflowId);
      return [...(this.#lookers.get(workflowId) ?? [])];
    };
    this.#options.store.loadHead(workflowId).then(
      (head) => {
        for (const looker of over()) looker.see(head);
      },
      (error: unknown) => {
        for (const looker of over()) looker.fail(error);
      },
    );
  }
}
