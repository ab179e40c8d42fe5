import type { ErrorInfo, Json, Snapshot, Status, WaitInfo } from "stepfold";
import { runNumbers } from "stepfold/core";
import type { Answerable } from "./next-command.ts";

/** An open wait, as `--json` prints it. */
interface WaitResult extends Omit<WaitInfo, "nodeId" | "answer"> {
  /** The id of the node. */
  readonly node: string;
  /** The exact command that answers the wait, or shows the other execution that it waits for; null if no command can end it. */
  readonly command: string | null;
}

/** The state of an execution, as `--json` prints it. */
export interface Result {
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly status: Status;
  readonly version: number;
  /** The number of its run, if it is not the first. */
  readonly run?: number;
  /** How many times it was restarted, if it was. */
  readonly restarts?: number;
  /** The state of the execution in one sentence. */
  readonly sentence: string;
  readonly output?: Json;
  readonly error?: ErrorInfo;
  readonly waits: readonly WaitResult[];
}

/** Makes the result that a command prints with `--json`. */
export function commandResult(snapshot: Snapshot, waits: readonly Answerable[], sentence: string): Result {
  const { workflowId, definition, status, version, output, error } = snapshot;
  return {
    workflowId,
    definition,
    status,
    version,
    ...runNumbers(snapshot),
    sentence,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    waits: waits.map(({ wait: { id, nodeId, answer: _, ...told }, command }) => ({ id, node: nodeId, ...told, command })),
  };
}
