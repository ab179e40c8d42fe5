import type { Snapshot, SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import type { OpenSessions } from "../worker/open-sessions.ts";

/** What has become of an execution. */
export interface Change {
  /** Null: it is not there any more. */
  readonly status: Status | null;
  readonly version: number;
  /** Absent: this process has made the change. */
  readonly incarnation?: string | undefined;
  /** What a look has found. Null: this process has made the change, or there is nothing. */
  readonly head: SnapshotHead | null;
  /** The snapshot after a commit of this process; null if it has not loaded it. */
  readonly snapshot: (() => Snapshot) | null;
}

/** The state of an execution that a wait has read. */
interface Known {
  readonly version: number;
  readonly incarnation?: string | undefined;
}

/** What is waited for. */
export interface ChangesRequest {
  readonly workflowId: string;
  /** Its reason is thrown. */
  readonly end: AbortSignal;
  /** Whether a change to this status matters. Default: every change does. */
  readonly matters?: (status: Status) => boolean;
}

/**
 * The changes of one execution from now on: commits of this process at once, those of others when a look finds them. None is missed
 * between two that are taken; of several only the latest is given.
 */
export class ChangesOf {
  /** What was read last: a change to this very state is none. */
  known: Known | null = null;
  readonly #end: AbortSignal;
  #latest: Change | null = null;
  #failure: { readonly error: unknown } | null = null;
  #wake: () => void = () => undefined;
  readonly #closings: (() => void)[];

  constructor({ changes, looks }: RuntimeContext, sessions: OpenSessions, { workflowId, end, matters = () => true }: ChangesRequest) {
    this.#end = end;
    const wake = (): void => this.#wake();
    const add = (change: Change): void => {
      if (change.status !== null && !matters(change.status)) return;
      // a look may have begun before a commit of this process
      if (change.status !== null && change.head && this.#latest?.snapshot && this.#latest.version > change.version) return;
      this.#latest = change;
      wake();
    };
    this.#closings = [
      changes.subscribe(workflowId, ({ status, version, snapshot }) => add({ status, version, head: null, snapshot })),
      looks.add(workflowId, {
        isTold: () => sessions.has(workflowId),
        knows: (version) => this.known !== null && this.known.version >= version,
        see: (head) =>
          add({ status: head?.status ?? null, version: head?.version ?? -1, incarnation: head?.incarnation, head, snapshot: null }),
        fail: (error) => {
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

  /** @throws what the store rejects with, and the reason of the end */
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

  /** Ends the looks. */
  close(): void {
    for (const close of this.#closings) close();
  }

  #isKnown({ status, version, head, incarnation }: Change): boolean {
    if (status === null || this.known?.version !== version) return false;
    return head === null || this.known.incarnation === incarnation;
  }
}
