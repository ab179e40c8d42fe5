import type { EpochMs, Event, Snapshot } from "stepfold";
import type { Answerable } from "../execution/next-command.ts";

/** The state of an execution at the end of a command. */
export interface CommandOutcome {
  readonly snapshot: Snapshot;
  readonly waits: readonly Answerable[];
  /** The state of the execution in one sentence. */
  readonly sentence: string;
  /** The command that lists everything that the execution waits for. */
  readonly show: string;
  /**
   * The command that lets the execution go on where it failed, and what its option `--definition` would name; null if it has not failed.
   */
  readonly restart: { readonly command: string; readonly definition: string } | null;
  /** The command that goes on after an interruption; null if this command was not interrupted. */
  readonly interrupted: string | null;
  /** Time of the last event that was seen; null if none was. */
  readonly at: EpochMs | null;
  /** The time by the clock of the database. */
  readonly now: EpochMs;
}

/** Shows an execution while it moves. */
export interface Progress {
  /** Shows the beginning. @param existed the execution was started before this command */
  begin(snapshot: Snapshot, existed: boolean): void;
  /** Shows an event. @param snapshot the snapshot after the event */
  event(event: Event, snapshot: Snapshot): void;
  /** Shows something that is not an event of the execution, such as what the command waits for. */
  note(text: string): void;
  /** Shows the state at the end of the command. */
  end(outcome: CommandOutcome): void;
  /** Leaves the terminal in order, whatever happened. Safe to call twice. */
  close(): void;
}
