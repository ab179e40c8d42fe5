import type { SnapshotHead } from "./snapshot.ts";

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
  { run, restarts = 0 }: Partial<Pick<SnapshotHead, "run" | "restarts">>,
  version: number = Number.POSITIVE_INFINITY,
): RunNumbers {
  const number = run && version < run.since ? run.number - 1 : (run?.number ?? 1);
  return { ...(number > 1 && { run: number }), ...(restarts > 0 && { restarts }) };
}
