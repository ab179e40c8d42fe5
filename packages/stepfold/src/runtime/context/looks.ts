import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { Environment } from "../../ports/environment.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** Shortest time between two looks that hints have caused, so that a flood of hints is no flood of queries. */
const minGapMs = 5;

/** Somebody who waits for an execution. */
export interface Looker {
  /** True while this process runs the execution: then it publishes every change, and there is nothing to look for. */
  isTold(): boolean;
  /** True if it knows this version, or a later one. */
  knows(version: number): boolean;
  /** Is given what a look has found. Null: the execution is not there. */
  see(head: SnapshotHead | null): void;
  /** The store did not answer. */
  fail(error: unknown): void;
}

interface LooksOptions {
  readonly store: Pick<SnapshotStore, "loadHead">;
  readonly environment: Environment;
  readonly pollMs: number;
  /** Called when somebody begins to wait. */
  readonly onAdd: () => void;
}

/**
 * Looks at the executions that are waited for in this process: every `pollMs` at all of them, and sooner at those of which a hint says
 * that they have changed. One look serves all that wait for an execution, and the store reads many heads in one round trip.
 */
export class Looks {
  readonly #options: LooksOptions;
  readonly #lookers = new Map<string, Set<Looker>>();
  /** Executions that are being read. */
  readonly #inFlight = new Set<string>();
  #hinted = new Set<string>();
  #hintsFrom = Number.NEGATIVE_INFINITY;
  /** A look at what is hinted is to come. */
  #isHinted = false;
  #cancelPoll: (() => void) | null = null;

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  /** Looks from now on. Returns the function that ends that. */
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

  /** Something may have happened to an execution. @param version that it has since then; one that all have seen is nothing new */
  hint(workflowId: string, version: number): void {
    const lookers = this.#lookers.get(workflowId);
    if (!lookers || [...lookers].every((looker) => looker.isTold() || looker.knows(version))) return;
    this.#hintAnew(workflowId);
  }

  /** Something may have happened to any of them. */
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
    // what is hinted in the same moment is looked at together
    else queueMicrotask(() => this.#lookAtHinted());
  }

  #lookAtHinted(): void {
    this.#isHinted = false;
    const hinted = this.#hinted;
    this.#hinted = new Set();
    this.#hintsFrom = this.#options.environment.monotonicMs() + minGapMs;
    for (const workflowId of hinted) {
      // what is being read may be older than the hint
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
