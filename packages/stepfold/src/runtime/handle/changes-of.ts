import type { Snapshot, SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import type { OpenSessions } from "../local/open-sessions.ts";

/** A change of an execution. */
export interface Change {
  /** Null: the execution does not exist any more. */
  readonly status: Status | null;
  /** -1 if the execution does not exist any more. */
  readonly version: number;
  /** Absent: this process has made the change. */
  readonly incarnation?: string | undefined;
  /** The head that a poll has read. Null: this process has made the change, or the execution does not exist any more. */
  readonly head: SnapshotHead | null;
  /** Makes the snapshot after a commit of this process. Null: this process has not loaded it, or another process has made the change. */
  readonly snapshot: (() => Snapshot) | null;
}

/** The state of an execution that a wait has read. */
interface Known {
  readonly version: number;
  readonly incarnation?: string | undefined;
}

/** Which changes are waited for. */
export interface ChangesRequest {
  readonly workflowId: string;
  /** Ends the waiting. Its reason is thrown. */
  readonly end: AbortSignal;
  /** Whether a change to this status matters. Default: every change does. */
  readonly matters?: (status: Status) => boolean;
}

/**
 * The changes of one execution from now on: commits of this process at once, commits of other processes when a poll finds them. A change
 * between two calls of `next` is kept; if there are several, only the latest is given.
 */
export class ChangesOf {
  /** The state that the caller has read last. A change to this same state is not given. */
  known: Known | null = null;
  readonly #end: AbortSignal;
  #latest: Change | null = null;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => undefined;
  readonly #closings: (() => void)[];

  constructor({ changes, headPolls }: RuntimeContext, sessions: OpenSessions, { workflowId, end, matters = () => true }: ChangesRequest) {
    this.#end = end;
    const wake = (): void => this.#wake();
    const add = (change: Change): void => {
      if (change.status !== null && !matters(change.status)) return;
      // a poll that began before a commit of this process may bring an older version
      if (change.status !== null && change.head && this.#latest?.snapshot && this.#latest.version > change.version) return;
      this.#latest = change;
      wake();
    };
    this.#closings = [
      changes.subscribe(workflowId, ({ status, version, snapshot }) => add({ status, version, head: null, snapshot })),
      headPolls.add(workflowId, {
        isPublishedHere: () => sessions.has(workflowId),
        knows: (version) => this.known !== null && this.known.version >= version,
        onHead: (head) =>
          add({ status: head?.status ?? null, version: head?.version ?? -1, incarnation: head?.incarnation, head, snapshot: null }),
        onError: (error) => {
          this.#failure ??= { error };
          wake();
        },
      }),
    ];
    end.addEventListener("abort", wake);
    this.#closings.push(() => end.removeEventListener("abort", wake));
  }

  /** @throws the reason of the end */
  throwIfEnded(): void {
    this.#end.throwIfAborted();
  }

  /** Waits for the next change. @throws what the store rejects with, and the reason of the end */
  async next(): Promise<Change> {
    for (;;) {
      this.throwIfEnded();
      if (this.#failure) throw this.#failure.error;
      const change = this.#latest;
      this.#latest = null;
      if (change && !this.#isKnown(change)) return change;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends the polls. */
  close(): void {
    for (const close of this.#closings) close();
  }

  #isKnown({ status, version, head, incarnation }: Change): boolean {
    if (status === null || this.known?.version !== version) return false;
    return head === null || this.known.incarnation === incarnation;
  }
}
