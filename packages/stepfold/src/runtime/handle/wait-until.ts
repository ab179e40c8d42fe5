import { isTerminal, type Snapshot, type SnapshotHead, type Status } from "../../core/snapshot/snapshot.ts";
import type { CommitNotice } from "../context/changes.ts";
import { requireHead, requireSnapshot } from "../context/require-snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import type { OpenSessions } from "../worker/open-sessions.ts";

/** How a wait is ended from outside. */
export interface WaitOptions {
  /** Ends the wait, which then rejects with its reason. Nothing else changes: the execution goes on. */
  readonly signal?: AbortSignal | undefined;
}

/** Ends when the signal of a wait does, or the runtime is closed. */
export function endOfWait({ closed }: RuntimeContext, { signal }: WaitOptions = {}): AbortSignal {
  return signal ? AbortSignal.any([signal, closed]) : closed;
}

/** The next change of an execution. */
export interface NextChange {
  /** A commit of this process; null after `pollMs`, when it is time to look whether another process has committed, or once the wait has ended. */
  readonly come: Promise<CommitNotice | null>;
  /** Ends the waiting. */
  readonly cancel: () => void;
}

/**
 * The first snapshot from now on for which `holds` is true.
 *
 * @param matters whether `holds` can be true with a status: only then the snapshot is loaded, which costs what it contains
 */
export async function waitUntil(
  context: RuntimeContext,
  sessions: OpenSessions,
  workflowId: string,
  matters: (status: Status) => boolean,
  holds: (snapshot: Snapshot) => boolean,
  end: AbortSignal,
): Promise<Snapshot> {
  for (;;) {
    const next = nextChange(context, sessions, workflowId, end, matters);
    try {
      const snapshot = await requireSnapshot(context.store, workflowId);
      if (holds(snapshot)) return snapshot;
      await next.come;
      end.throwIfAborted();
    } finally {
      next.cancel();
    }
  }
}

/**
 * The snapshot of an execution once it has ended, or rests at its end because something could not be undone: how it ends is certain
 * then. Of one that runs here nothing is loaded: its session publishes the end. */
export async function waitUntilEnded(
  context: RuntimeContext,
  sessions: OpenSessions,
  workflowId: string,
  end: AbortSignal,
): Promise<Snapshot> {
  for (;;) {
    const next = nextChange(context, sessions, workflowId, end, mayHaveEnded);
    try {
      if (!sessions.isBefore(workflowId, mayHaveEnded)) {
        // as long as it waits nothing else of it is read
        if (hasEnded(await requireHead(context.store, workflowId))) return await requireSnapshot(context.store, workflowId);
      }
      const change = await next.come;
      const snapshot = change?.snapshot?.();
      if (snapshot && hasEnded(snapshot)) return snapshot;
      end.throwIfAborted();
    } finally {
      next.cancel();
    }
  }
}

function mayHaveEnded(status: Status): boolean {
  return isTerminal(status) || status === "parked";
}

function hasEnded({ status, ending }: SnapshotHead): boolean {
  return isTerminal(status) || (status === "parked" && ending?.again !== undefined);
}

/** The next change after which the status is one that matters. Called before the snapshot is read, so that no change is missed. */
export function nextChange(
  { changes, environment, pollMs }: RuntimeContext,
  sessions: OpenSessions,
  workflowId: string,
  end: AbortSignal,
  matters: (status: Status) => boolean = () => true,
): NextChange {
  let cancel = (): void => undefined;
  const come = new Promise<CommitNotice | null>((resolve) => {
    const done = (change: CommitNotice | null): void => {
      cancel();
      resolve(change);
    };
    const unsubscribe = changes.subscribe(workflowId, (change) => {
      if (matters(change.status)) done(change);
    });
    let endTimer = (): void => undefined;
    const arm = (): void => {
      // of an execution that runs here every change is published
      endTimer = environment.after(pollMs, () => (sessions.has(workflowId) ? arm() : done(null)), { poll: true });
    };
    const ended = (): void => done(null);
    cancel = () => {
      unsubscribe();
      endTimer();
      end.removeEventListener("abort", ended);
    };
    arm();
    end.addEventListener("abort", ended);
    if (end.aborted) ended();
  });
  return { come, cancel: () => cancel() };
}
