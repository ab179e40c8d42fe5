import { constants, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** What processes write down OUTSIDE the store, so that the store can be judged by it. */
export type LogLine =
  /** An executor ran: the effect on the world. */
  | { readonly what: "called"; readonly workflowId: string; readonly nodeId: string; readonly key: string; readonly call: string }
  /** A step's signal told it to stop. */
  | { readonly what: "aborted"; readonly workflowId: string; readonly key: string; readonly call: string; readonly reason: string }
  /** A commit is about to be sent; versions `first` to `last`. */
  | {
      readonly what: "committing";
      readonly workflowId: string;
      readonly commitId: string;
      readonly first: number;
      readonly last: number;
      /** Null for whoever holds no claim. */
      readonly fence: number | null;
    }
  /** The store has given it to this process to drive. */
  | {
      readonly what: "claimed";
      readonly workflowId: string;
      readonly fence: number;
      readonly version: number;
      /** Claims in a row that ran out before. */
      readonly expired: number;
      /** Those of them whose holder had begun. */
      readonly crashes: number;
    }
  /** The store has answered that it is written. */
  | { readonly what: "committed"; readonly workflowId: string; readonly commitId: string }
  /** This process stops in the middle of these commits. */
  | { readonly what: "frozen"; readonly commitIds: readonly string[] }
  /** The store has refused it, or the renewal or release of a claim. */
  | { readonly what: "refused"; readonly workflowId: string; readonly action: string; readonly code: string }
  /** A start is about to be asked for. */
  | { readonly what: "starting"; readonly workflowId: string; readonly workflow: string }
  | { readonly what: "started"; readonly workflowId: string }
  /** The caller of a start was told that it is not known to be made. */
  | { readonly what: "not started"; readonly workflowId: string; readonly code: string }
  | { readonly what: "resumed"; readonly workflowId: string; readonly waitId: string; readonly key: string; readonly applied: boolean }
  | { readonly what: "cancelled"; readonly workflowId: string }
  /** An execution that has failed goes on as another one. */
  | { readonly what: "restarted"; readonly workflowId: string; readonly as: string }
  /** What the runtime told of in the background. */
  | { readonly what: "problem"; readonly workflowId: string | null; readonly code: string; readonly message: string };

/** A line as it lies in a file: by whom, when by the clock of the machine, and what its process took for the time. */
export type WrittenLine = LogLine & { readonly by: string; readonly at: number; readonly takenFor: number };

/**
 * Opens a log that only this process writes to. Every line is handed to the system in one write before the call returns,
 * so that a kill loses none; with `synced` also to the disk.
 */
export function openLog(folder: string, by: string, { synced = false }: { readonly synced?: boolean } = {}): (line: LogLine) => void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_SYNC } = constants;
  const file = openSync(join(folder, `${by}.jsonl`), O_WRONLY | O_APPEND | O_CREAT | (synced ? O_SYNC : 0));
  return (line) => {
    // the machine's time, also where the process is shown another one by now
    const at = Math.floor(performance.timeOrigin + performance.now());
    writeSync(file, `${JSON.stringify({ ...line, by, at, takenFor: Date.now() })}\n`);
  };
}

/** All that any process wrote, each in its order. A last line that was cut off by the kill is left out: nothing followed from it. */
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
