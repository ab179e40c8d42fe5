import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { Environment } from "../../ports/environment.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** The shortest time between two reads that hints cause, so that many hints do not cause many queries. */
const minGapMs = 5;

/** A caller that waits for a change of an execution. */
export interface HeadWatcher {
  /** True while this process runs the execution: then it publishes every change, and the head need not be read. */
  isPublishedHere(): boolean;
  /** True if the caller knows this version, or a later one. */
  knows(version: number): boolean;
  /** Takes the head that was read. Null: the execution does not exist. */
  onHead(head: SnapshotHead | null): void;
  /** Takes the error of a read: the store did not answer. */
  onError(error: unknown): void;
}

interface HeadPollsOptions {
  readonly store: Pick<SnapshotStore, "loadHead">;
  readonly environment: Environment;
  readonly pollMs: number;
  /** Called when a caller begins to wait. */
  readonly onAdd: () => void;
}

/**
 * Reads the heads of the executions for which callers in this process wait: every `pollMs` all of them, and soon those that have changed
 * according to a hint. Executions that run here are not read, because their session publishes the changes. One read serves all callers that
 * wait for an execution, and the store reads many heads in one round trip.
 */
export class HeadPolls {
  readonly #options: HeadPollsOptions;
  readonly #watchers = new Map<string, Set<HeadWatcher>>();
  /** Executions that are being read. */
  readonly #inFlight = new Set<string>();
  #hinted = new Set<string>();
  /** Hints cause no read before this time on the monotonic clock. */
  #hintsFrom = Number.NEGATIVE_INFINITY;
  /** The executions in `#hinted` are going to be read. */
  #isHinted = false;
  #cancelPoll: (() => void) | null = null;

  constructor(options: HeadPollsOptions) {
    this.#options = options;
  }

  /** Polls the head of an execution from now on. Returns a function that ends this. */
  add(workflowId: string, watcher: HeadWatcher): () => void {
    const watchers = this.#watchers.get(workflowId) ?? new Set();
    this.#watchers.set(workflowId, watchers);
    watchers.add(watcher);
    this.#options.onAdd();
    if (!this.#cancelPoll) this.#pollLater();
    return () => {
      watchers.delete(watcher);
      if (watchers.size > 0 || this.#watchers.get(workflowId) !== watchers) return;
      this.#watchers.delete(workflowId);
      if (this.#watchers.size > 0) return;
      this.#cancelPoll?.();
      this.#cancelPoll = null;
    };
  }

  /**
   * Reads the head of an execution soon, because it may have changed.
   *
   * @param version its version after the change; if all callers know it, no read follows
   */
  hint(workflowId: string, version: number): void {
    const watchers = this.#watchers.get(workflowId);
    if (!watchers || [...watchers].every((watcher) => watcher.isPublishedHere() || watcher.knows(version))) return;
    this.#hintAnew(workflowId);
  }

  /** Reads the heads of all executions soon, because any of them may have changed. */
  hintAll(): void {
    for (const workflowId of this.#watchers.keys()) this.#hintAnew(workflowId);
  }

  #hintAnew(workflowId: string): void {
    this.#hinted.add(workflowId);
    if (this.#isHinted) return;
    this.#isHinted = true;
    const { environment } = this.#options;
    const delayMs = this.#hintsFrom - environment.monotonicMs();
    if (delayMs > 0) environment.after(delayMs, () => this.#readHinted());
    // hints of the same moment cause one read
    else queueMicrotask(() => this.#readHinted());
  }

  #readHinted(): void {
    this.#isHinted = false;
    const hinted = this.#hinted;
    this.#hinted = new Set();
    this.#hintsFrom = this.#options.environment.monotonicMs() + minGapMs;
    for (const workflowId of hinted) {
      // the read in flight may have begun before the change of the hint
      if (this.#inFlight.has(workflowId)) this.#hintAnew(workflowId);
      else this.#read(workflowId);
    }
  }

  #pollLater(): void {
    const { environment, pollMs } = this.#options;
    this.#cancelPoll = environment.after(
      pollMs,
      () => {
        this.#pollLater();
        for (const workflowId of this.#watchers.keys()) if (!this.#inFlight.has(workflowId)) this.#read(workflowId);
      },
      { poll: true },
    );
  }

  #read(workflowId: string): void {
    const waiting = [...(this.#watchers.get(workflowId) ?? [])];
    if (waiting.every((watcher) => watcher.isPublishedHere())) return;
    this.#inFlight.add(workflowId);
    const over = (): HeadWatcher[] => {
      this.#inFlight.delete(workflowId);
      return [...(this.#watchers.get(workflowId) ?? [])];
    };
    this.#options.store.loadHead(workflowId).then(
      (head) => {
        for (const watcher of over()) watcher.onHead(head);
      },
      (error: unknown) => {
        for (const watcher of over()) watcher.onError(error);
      },
    );
  }
}
