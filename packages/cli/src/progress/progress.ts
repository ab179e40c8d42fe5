import type { EpochMs, Event, Snapshot } from "stepfold";
import type { Answerable } from "../execution/next-command.ts";

/** How far an execution came under one command. */
export interface CommandOutcome {
  readonly snapshot: Snapshot;
  readonly waits: readonly Answerable[];
  /** Where it stands, in one sentence. */
  readonly sentence: string;
  /** The command that lists everything it waits for. */
  readonly show: string;
  /** The command that begins another execution where this one failed; null if it has not. */
  readonly restart: string | null;
  /** The command that goes on, if it was interrupted. */
  readonly interrupted: string | null;
  /** Time of the last event that was seen. */
  readonly at: EpochMs | null;
}

/** Shows an execution while it moves. */
export interface Progress {
  /** @param existed it was started before this command */
  begin(snapshot: Snapshot, existed: boolean): void;
  event(event: Event, snapshot: Snapshot): void;
  /** Shows something that is not an event of the execution, such as what the command waits for. */
  note(text: string): void;
  end(outcome: CommandOutcome): void;
  /** Leaves the terminal in order, whatever happened. Safe to call twice. */
  close(): void;
}
