import type { ErrorInfo, Json, Snapshot, Status, WaitInfo } from "stepfold";
import type { Answerable } from "./next-command.ts";

/** An open wait, as `--json` tells of it. */
interface WaitResult extends Omit<WaitInfo, "nodeId" | "answer"> {
  readonly node: string;
  /** The exact command that answers it; null where only time, or another execution, can. */
  readonly command: string | null;
}

/** Where an execution stands, as `--json` tells it. */
export interface Result {
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly status: Status;
  readonly version: number;
  /** Where it stands, in one sentence. */
  readonly sentence: string;
  readonly output?: Json;
  readonly error?: ErrorInfo;
  readonly waits: readonly WaitResult[];
}

/** The result of a command. */
export function commandResult(
  { workflowId, definition, status, version, output, error }: Snapshot,
  waits: readonly Answerable[],
  sentence: string,
): Result {
  return {
    workflowId,
    definition,
    status,
    version,
    sentence,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    waits: waits.map(({ wait: { id, nodeId, answer: _, ...told }, command }) => ({ id, node: nodeId, ...told, command })),
  };
}
