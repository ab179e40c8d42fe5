import type { Status } from "stepfold";

/** The exit codes of a command, for scripts. */
export const exitCode = {
  /** Success: the execution has completed, or has not ended and waits. */
  done: 0,
  /** The execution failed or was cancelled, or the command failed, for example because the store did not answer. */
  failed: 1,
  /** The input of the command cannot be used. */
  badInput: 2,
  /** With `--exit-code`: the execution has not ended and waits. */
  paused: 3,
  /** 128 and the number of the signal: SIGINT, SIGTERM. */
  interrupted: 130,
  terminated: 143,
} as const;

/** Returns the exit code for the status of an execution at the end of a command. @param tellPause true with `--exit-code` */
export function exitCodeOf(status: Status, tellPause: boolean): number {
  if (status === "completed") return exitCode.done;
  if (status === "failed" || status === "cancelled") return exitCode.failed;
  return tellPause ? exitCode.paused : exitCode.done;
}
