import type { EpochMs } from "../../values/json.ts";

/** The execution that started this one as a detached child. */
export interface ParentLink {
  readonly workflowId: string;
  readonly incarnation?: string;
  /** The wait that the end of this execution answers; absent if the parent does not wait. */
  readonly waitId?: string;
  /** How many executions are above this one: its parent, the parent's parent, and so on. */
  readonly depth: number;
  /** How many detached executions this one may lead to, directly and indirectly. Absent: as many as the limit `descendants` allows. */
  readonly descendants?: number;
}

/** The execution from which another one goes on. */
export interface Origin {
  readonly workflowId: string;
  readonly incarnation?: string;
  /** The last version that the new execution has taken over. */
  readonly version: number;
  readonly reason: "fork" | "adopt";
  /**
   * Only of an execution that runs code: what its chance is made of, and when it began, in the first of all executions that go on from each other. So
   * code that is run again gets the same numbers and times as there.
   */
  readonly replay?: { readonly seed: string; readonly at: EpochMs };
}

/** A run of an execution: what happens between two `continueAs`. */
export interface PresentRun {
  /** 2 for the first one after a `continueAs`. */
  readonly number: number;
  /** Version of the event with which it began; 0 if the execution goes on from another one, for example as a fork, in a later run. */
  readonly since: number;
  /** When it began. */
  readonly at: EpochMs;
  /** How many runs before it, one after the other, have ended within a second and were not moved from outside. Absent: none. */
  readonly quick?: number;
}

/**
 * How often an execution has gone on and was restarted. An execution can end more than once under its id: after each restart once more. These
 * two numbers tell a second end from a repeated message about the first one.
 */
export interface RunNumbers {
  /** The number of its run, which rises with every `continueAs`. Absent: its first run. */
  readonly run?: number;
  /** How many times it was restarted. Absent: never. */
  readonly restarts?: number;
}

/**
 * Returns the numbers of an execution.
 *
 * @param version that of an event: the number of the run to which this event belongs. Default: the present run
 */
export function runNumbers(
  { run, restarts = 0 }: { readonly run?: PresentRun | undefined; readonly restarts?: number | undefined },
  version: number = Number.POSITIVE_INFINITY,
): RunNumbers {
  const number = run && version < run.since ? run.number - 1 : (run?.number ?? 1);
  return { ...(number > 1 && { run: number }), ...(restarts > 0 && { restarts }) };
}
