import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Command } from "../../engine/commands/command.ts";

/** What a command has done. It wakes no session and no worker itself: the caller does. */
export interface CommandResult {
  /** False if the same was committed before. */
  readonly committed: boolean;
  /** Null if no session and no worker has to look at the execution. */
  readonly wakeUp: PendingWakeUp | null;
}

/** An execution that a worker has to look at. */
export interface PendingWakeUp {
  readonly workflowId: string;
  readonly incarnation?: string | undefined;
  readonly version: number;
  /** When it is due, by the store's clock: 0 for now. Null: only a session that holds it here has to look. */
  readonly wakeAt: EpochMs | null;
  /** Its status as this process has just written it. */
  readonly status?: Status | undefined;
  /** As this process has just written it; it is only made when it is asked for. */
  readonly snapshot?: (() => Snapshot) | undefined;
  /** True if the queue has its message: it was sent in the same transaction, or with an earlier commit. */
  readonly isAnnounced: boolean;
}

/** A command that waits to be committed, and who is told what became of it. */
export interface CommandJob {
  readonly command: Command;
  /** Whether the queue's message goes with the commit: false if this process has a worker, which looks first. */
  readonly announce: boolean;
  /** Asked before each try. False: nobody knows any longer whether the command is still wanted, so it is refused with `FENCE_LOST`. */
  readonly isCurrent?: (() => boolean) | undefined;
  readonly resolve: (result: CommandResult) => void;
  readonly reject: (error: unknown) => void;
}
