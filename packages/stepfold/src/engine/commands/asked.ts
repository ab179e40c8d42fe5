import type { ResumedEvent } from "../../core/snapshot/event.ts";

/** What every command has that comes from outside. */
export interface Asked {
  /** Who sends it; the event keeps it as `who`. An answer needs it if the wait has `responders` or a `quorum`. */
  readonly by?: string | undefined;
}

/** What the event of a command has, whatever it is. */
export type CommandStamp = Pick<ResumedEvent, "version" | "at" | "who">;
