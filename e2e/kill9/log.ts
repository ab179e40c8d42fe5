import { constants, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A line that processes log OUTSIDE the store, so that the store can be checked against it. */
export type LogLine =
  /** An executor ran: it had an effect on the outside world. */
  | { readonly what: "called"; readonly workflowId: string; readonly nodeId: string; readonly key: string; readonly call: string }
  /** The signal of a step was aborted. */
  | { readonly what: "aborted"; readonly workflowId: string; readonly key: string; readonly call: string; readonly reason: string }
  /** A commit with the versions `first` to `last` is about to be sent. */
  | {
      readonly what: "committing";
      readonly workflowId: string;
      readonly commitId: string;
      readonly first: number;
      readonly last: number;
      /** The fence of the sender's claim. Null: the sender holds no claim. */
      readonly fence: number | null;
    }
  /** The store has given the claim of this execution to this process. */
  | {
      readonly what: "claimed";
      readonly workflowId: string;
      readonly fence: number;
      readonly version: number;
      /** The number of consecutive earlier claims whose lease ran out. */
      readonly expired: number;
      /** The number of these claims whose holder had begun to run the execution. */
      readonly crashes: number;
      /** When the process asked for the claim, by the machine's clock. */
      readonly askedAt: number;
    }
  /** A queue has delivered a message about this execution to this process. */
  | { readonly what: "delivered"; readonly workflowId: string }
  /** The store has acknowledged the commit. */
  | { readonly what: "committed"; readonly workflowId: string; readonly commitId: string }
  /** This process stops in the middle of these commits. */
  | { readonly what: "frozen"; readonly commitIds: readonly string[] }
  /** The store has refused a commit, or the renewal or release of a claim. */
  | { readonly what: "refused"; readonly workflowId: string; readonly action: string; readonly code: string }
  /** A start is about to be requested. */
  | { readonly what: "starting"; readonly workflowId: string; readonly workflow: string }
  | { readonly what: "started"; readonly workflowId: string }
  /** The caller of a start got an error: the start is not known to be made. */
  | { readonly what: "not started"; readonly workflowId: string; readonly code: string }
  | { readonly what: "resumed"; readonly workflowId: string; readonly waitId: string; readonly key: string; readonly applied: boolean }
  | { readonly what: "cancelled"; readonly workflowId: string }
  /** An ended execution was restarted, by this call (`applied`) or an earlier one with this key. */
  | { readonly what: "restarted"; readonly workflowId: string; readonly key: string; readonly applied: boolean }
  /** A problem that the runtime or the queue reported in the background. */
  | { readonly what: "problem"; readonly workflowId: string | null; readonly code: string; readonly message: string };

/**
 * A line as it is in a file: `by` is the name of the process, `at` the time by the machine's clock, and `takenFor` the time by the
 * clock of the process.
 */
export type WrittenLine = LogLine & { readonly by: string; readonly at: number; readonly takenFor: number };

/**
 * Opens a log that only this process writes to. Each line is written to the system in one write before the call returns, so that a kill
 * loses none. With `synced` it is also written to the disk.
 */
export function openLog(folder: string, by: string, { synced = false }: { readonly synced?: boolean } = {}): (line: LogLine) => void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_SYNC } = constants;
  const file = openSync(join(folder, `${by}.jsonl`), O_WRONLY | O_APPEND | O_CREAT | (synced ? O_SYNC : 0));
  return (line) => {
    writeSync(file, `${JSON.stringify({ ...line, by, at: machineNow(), takenFor: Date.now() })}\n`);
  };
}

/** The machine's time, also if the process sees a fake clock: `performance` uses the monotonic clock, which is not faked. */
export function machineNow(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

/**
 * Reads the lines of all processes, in the order of each process. An incomplete last line is left out: its process was killed while it
 * wrote the line, so nothing followed from it.
 */
export function readLogs(folder: string): WrittenLine[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .flatMap((name) => readLog(join(folder, name)));
}

export function readLog(path: string): WrittenLine[] {
  const lines = readFileSync(path, "utf8").split("\n");
  lines.pop();
  return lines.map((line) => JSON.parse(line) as WrittenLine);
}
