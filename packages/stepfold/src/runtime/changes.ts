import type { Status } from "../core/snapshot/snapshot.ts";

type Listener = (version: number, status: Status) => void;

/** A change to come, or the moment to look whether another process made one. */
export interface News {
  readonly come: Promise<void>;
  /** Stops waiting for it. */
  readonly cancel: () => void;
}

/** What this process committed, told to whoever waits for it here. Others' commits are found by polling. */
export class Changes {
  readonly #listeners = new Map<string, Set<Listener>>();

  tell(workflowId: string, version: number, status: Status): void {
    for (const listener of this.#listeners.get(workflowId) ?? []) listener(version, status);
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
