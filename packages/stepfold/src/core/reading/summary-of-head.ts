import type { ErrorInfo } from "../errors/error-info.ts";
import { type RunNumbers, runNumbers } from "../snapshot/parts/lineage.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { SnapshotHead } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";

/** A short summary of the waits of an execution, without those of its children. */
export interface WaitSummary {
  /** The kind of the first wait. */
  readonly kind: Wait["kind"];
  /** The node of the first wait. */
  readonly nodeId: string;
  /** The earliest time at which one of the waits times out or goes on by itself; null if there is no such time. */
  readonly until: EpochMs | null;
  /** The number of open waits. */
  readonly count: number;
}

/** The part of a head that a list shows. */
export interface HeadSummary extends RunNumbers {
  readonly currentNodeId: string | null;
  /** Null if no path of the execution itself has a wait. */
  readonly waiting: WaitSummary | null;
  readonly error: Pick<ErrorInfo, "name" | "message" | "code" | "nodeId"> | null;
  readonly steps: number;
  readonly deadlineAt?: EpochMs;
  /** The definition that the present run follows, if it may be another one than that of the start. */
  readonly definition?: SnapshotHead["definition"];
}

/** Returns the part of a head that a list shows. The waits of children are not included, because children are not part of the head. */
export function summaryOfHead(
  head: Pick<SnapshotHead, "currentNodeId" | "activePaths" | "error" | "steps" | "deadlineAt"> &
    Partial<Pick<SnapshotHead, "definition" | "run" | "restarts">>,
): HeadSummary {
  const { currentNodeId, activePaths, steps, deadlineAt } = head;
  const error = head.error ? shortError(head.error) : null;
  const numbers = runNumbers(head);
  const definition = Object.keys(numbers).length > 0 && head.definition ? { definition: head.definition } : {};
  const deadline = deadlineAt === undefined ? {} : { deadlineAt };
  return { currentNodeId, waiting: waitingIn(activePaths), error, steps, ...deadline, ...definition, ...numbers };
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
