import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";

/** What this process has committed. */
export interface Change {
  readonly workflowId: string;
  readonly version: number;
  readonly status: Status;
  /** The whole, as it is now. */
  readonly snapshot: () => Snapshot;
}

type Listener = (change: Change) => void;

/** A change to come, or the moment to look whether another process made one. */
export interface News {
  /** What was committed here; null if it is only time to look. */
  readonly come: Promise<Change | null>;
  /** Stops waiting for it. */
  readonly cancel: () => void;
}

/** What this process committed, told to whoever waits for it here. Others' commits are found by polling. */
export class Changes {
  readonly #listeners = new Map<string, Set<Listener>>();

  tell(change: Change): void {
    for (const listener of this.#listeners.get(change.workflowId) ?? []) listener(change);
  }

  listen(workflowId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(workflowId) ?? new Set();
    this.#listeners.set(workflowId, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(workflowId);
    };
  }
}
