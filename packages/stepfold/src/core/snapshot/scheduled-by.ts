import type { EpochMs } from "../values/json.ts";

/** The tick of a schedule that began an execution. */
export interface ScheduledBy {
  /** Name of the schedule. */
  readonly schedule: string;
  /** The execution that the schedule was then. */
  readonly workflowId: string;
  /** The tick, also where it began later. */
  readonly at: EpochMs;
  /** Its end is told to the schedule. */
  readonly reports?: true;
}
