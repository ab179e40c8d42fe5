import type { Snapshot, Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Command } from "../../engine/commands/command.ts";

/** The result of a command. The command wakes no session and no worker itself; the caller does. */
export interface CommandResult {
  /** False if the same command was committed before, or if the id of a start is taken. */
  readonly committed: boolean;
  /** Null if no session and no worker has to look at the execution. */
  readonly wakeUp: PendingWakeUp | null;
}

/** An execution that a worker has to look at. */
export interface PendingWakeUp {
  readonly workflowId: string;
  readonly incarnation?: string | undefined;
  readonly version: number;
  /** When the execution is due, by the store's clock. 0: now. Null: only a session that runs the execution here has to look. */
  readonly wakeAt: EpochMs | null;
  /** The status that this process has just written. */
  readonly status?: Status | undefined;
  /** Makes the snapshot that this process has just written. */
  readonly snapshot?: (() => Snapshot) | undefined;
  /** True if the queue has a message for the execution, sent in the same transaction or with an earlier commit, or if it needs none. */
  readonly isAnnounced: boolean;
}

/** A command that waits to be committed, and the functions that take its result. */
export interface CommandJob {
  readonly command: Command;
  /** Whether the commit sends a message to the queue. False if this process has a worker, which first tries to run the execution. */
  readonly announce: boolean;
  /** Called before each try. False: the sender has lost its claim and may not want the command, which is refused with `FENCE_LOST`. */
  readonly isCurrent?: (() => boolean) | undefined;
  /** True for what `runtime.schedules` and the executions of a schedule tell it. Other commands do not change a schedule. */
  readonly ofSchedules?: boolean | undefined;
  readonly resolve: (result: CommandResult) => void;
  readonly reject: (error: unknown) => void;
}
