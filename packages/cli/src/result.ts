import type { ErrorInfo, Json, Snapshot, Status } from "stepfold";
import type { Answerable } from "./next-command.ts";

/** An open wait, as `--json` tells of it. */
interface WaitResult {
  readonly id: string;
  readonly node: string;
  readonly payload?: Json;
  readonly schema?: Json;
  readonly timeoutAt?: number;
  /** The exact command that answers it. */
  readonly command: string;
}

/** Where an execution stands, as `--json` tells it. */
export interface Result {
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly status: Status;
  readonly version: number;
  readonly output?: Json;
  readonly error?: ErrorInfo;
  readonly waits: readonly WaitResult[];
}

/** The result of a command. */
export function resultOf({ workflowId, definition, status, version, output, error }: Snapshot, waits: readonly Answerable[]): Result {
  return {
    workflowId,
    definition,
    status,
    version,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    waits: waits.map(({ waitId, nodeId, wait: { payload, schema, timeoutAt }, command }) => ({
      id: waitId,
      node: nodeId,
      ...(payload === undefined ? {} : { payload }),
      ...(schema === undefined ? {} : { schema: schema as Json }),
      ...(timeoutAt === undefined ? {} : { timeoutAt }),
      command,
    })),
  };
}
