import type { Status } from "stepfold";

/** What scripts learn from the end of the command. */
export const exitCode = {
  /** Done: the execution is completed, or waits for somebody. */
  done: 0,
  /** The execution failed or was cancelled, or the store was lost. */
  failed: 1,
  /** What the command was given cannot be used. */
  badInput: 2,
  /** With `--exit-code`: the execution waits for somebody. */
  paused: 3,
  interrupted: 130,
  terminated: 143,
} as const;

/** The exit code for where an execution stands at the end of the command. */
export function exitCodeOf(status: Status, tellPause: boolean): number {
  if (status === "completed") return exitCode.done;
  if (status === "failed" || status === "cancelled") return exitCode.failed;
  return tellPause ? exitCode.paused : exitCode.done;
}
