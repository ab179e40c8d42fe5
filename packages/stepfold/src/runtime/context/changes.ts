import { type RunNumbers, runNumbers } from "../../core/snapshot/parts/lineage.ts";
import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { statusOf } from "../../core/transition/draft/draft-status.ts";

/** A commit that this process has made. */
export interface CommitNotice extends RunNumbers {
  readonly workflowId: string;
  readonly version: number;
  readonly status: Status;
  /**
   * Makes the snapshot after the commit. Called later, it may make one with a later `version`, which is not committed yet, because the
   * draft of the session changes. Null: this process has not loaded the execution.
   */
  readonly snapshot: (() => Snapshot) | null;
}

type Listener = (change: CommitNotice) => void;

/** Tells the handles in this process of the commits that this process makes. Commits of other processes are found by `HeadPolls`. */
export class Changes {
  readonly #listeners = new Map<string, Set<Listener>>();

  publish(change: CommitNotice): void {
    for (const listener of this.#listeners.get(change.workflowId) ?? []) listener(change);
  }

  /** Returns the function that ends the subscription. */
  subscribe(workflowId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(workflowId) ?? new Set();
    this.#listeners.set(workflowId, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(workflowId);
    };
  }
}

/** Returns the notice of a commit of this draft. */
export function noticeOf(draft: Draft): CommitNotice & { readonly snapshot: () => Snapshot } {
  const { workflowId, version } = draft;
  return { workflowId, version, status: statusOf(draft), ...runNumbers(draft), snapshot: () => closeDraft(draft) };
}
