import type { ErrorInfo } from "../errors/error-info.ts";
import type { SnapshotHead, Wait } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";

/** What the paths of an execution wait for, in short. */
export interface WaitSummary {
  /** Of the first wait. */
  readonly kind: Wait["kind"];
  /** The node of the first wait. */
  readonly nodeId: string;
  /** When something of it is over, or goes on by itself. Null: never. */
  readonly until: EpochMs | null;
  /** How many waits are open. */
  readonly count: number;
}

/** What a list shows of a head. */
export interface HeadSummary {
  readonly currentNodeId: string | null;
  readonly waiting: WaitSummary | null;
  readonly error: Pick<ErrorInfo, "name" | "message" | "code" | "nodeId"> | null;
  readonly steps: number;
  readonly deadlineAt?: EpochMs;
}

/** What a list shows of a head. What children wait for is not in it: they do not lie in the head. */
export function summaryOfHead(head: Pick<SnapshotHead, "currentNodeId" | "activePaths" | "error" | "steps" | "deadlineAt">): HeadSummary {
  const { currentNodeId, activePaths, steps, deadlineAt } = head;
  const error = head.error ? shortError(head.error) : null;
  return { currentNodeId, waiting: waitingIn(activePaths), error, steps, ...(deadlineAt !== undefined && { deadlineAt }) };
}

function waitingIn(paths: SnapshotHead["activePaths"]): WaitSummary | null {
  let first: Pick<WaitSummary, "kind" | "nodeId"> | null = null;
  let [count, until] = [0, Number.POSITIVE_INFINITY];
  for (const { nodeId, waits = [] } of paths) {
    for (const { kind, resumeAt = Number.POSITIVE_INFINITY, timeoutAt = Number.POSITIVE_INFINITY } of waits) {
      first ??= { kind, nodeId };
      until = Math.min(until, resumeAt, timeoutAt);
      count++;
    }
  }
  return first && { ...first, until: until === Number.POSITIVE_INFINITY ? null : until, count };
}

function shortError({ name, message, code, nodeId }: ErrorInfo): HeadSummary["error"] {
  return { name, message, ...(code !== undefined && { code }), ...(nodeId !== undefined && { nodeId }) };
}
