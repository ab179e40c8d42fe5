import type { ErrorInfo } from "../errors/error-info.ts";
import { type RunNumbers, runNumbers } from "../snapshot/parts/lineage.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { MapState, Parked, SnapshotHead } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";
import type { AskedWait } from "./asked-waits.ts";

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

/** The retry that an execution waits for. If several are pending: the one that is due first. */
export interface RetrySummary {
  readonly nodeId: string;
  /** The number of the attempt that comes; 2 for the first retry. */
  readonly attempt: number;
  readonly at: EpochMs;
}

/** The progress of a map. If several maps are under way: of the first one. */
export interface ItemsSummary extends Pick<MapState, "total" | "done" | "failed" | "cancelled"> {
  readonly nodeId: string;
}

/** What a list says of paths and of an execution that is parked. Paths of children are not included, except that a map counts its items. */
export interface StateSummary {
  /** Absent: no retry is pending. */
  readonly retry?: RetrySummary;
  /** Absent: it is not parked. */
  readonly parked?: Pick<Parked, "code" | "message" | "until">;
  /** Absent: no map is under way. */
  readonly items?: ItemsSummary;
}

/** The part of a head that a list shows. */
export interface HeadSummary extends RunNumbers, StateSummary {
  readonly currentNodeId: string | null;
  /** Null if no path of the execution itself has a wait. */
  readonly waiting: WaitSummary | null;
  readonly error: Pick<ErrorInfo, "name" | "message" | "code" | "nodeId"> | null;
  readonly steps: number;
  readonly deadlineAt?: EpochMs;
  /** The open waits of its own paths that somebody can answer, with what is asked. Absent: they were not asked for. */
  readonly asked?: readonly AskedWait[];
  /** The definition that the present run follows, if it may be another one than that of the start. */
  readonly definition?: SnapshotHead["definition"];
}

/** Returns the part of a head that a list shows. The waits of children are not included, because children are not part of the head. */
export function summaryOfHead(
  head: Pick<SnapshotHead, "currentNodeId" | "activePaths" | "error" | "steps" | "deadlineAt"> &
    Partial<Pick<SnapshotHead, "definition" | "run" | "restarts" | "parked">>,
): HeadSummary {
  const { currentNodeId, activePaths, steps, deadlineAt } = head;
  const error = head.error ? shortError(head.error) : null;
  const numbers = runNumbers(head);
  const definition = Object.keys(numbers).length > 0 && head.definition ? { definition: head.definition } : {};
  const deadline = deadlineAt === undefined ? {} : { deadlineAt };
  return { currentNodeId, waiting: waitingIn(activePaths), error, steps, ...deadline, ...stateOf(head), ...definition, ...numbers };
}

function stateOf({ activePaths, parked }: Pick<SnapshotHead, "activePaths"> & Partial<Pick<SnapshotHead, "parked">>): StateSummary {
  const retry = firstRetry(activePaths);
  const items = firstMap(activePaths);
  // an older version has encrypted `parked` as a whole, so the list cannot show it
  const isReadable = parked !== undefined && typeof parked.code === "string";
  return { ...(retry && { retry }), ...(isReadable && { parked: shortParked(parked) }), ...(items && { items }) };
}

function firstRetry(paths: SnapshotHead["activePaths"]): RetrySummary | null {
  let first: RetrySummary | null = null;
  for (const { status, nodeId, attempts, nextRetryAt: at = 0 } of paths)
    if (status === "retrying" && (!first || at < first.at)) first = { nodeId, attempt: attempts + 1, at };
  return first;
}

function firstMap(paths: SnapshotHead["activePaths"]): ItemsSummary | null {
  const path = paths.find(({ children }) => children?.map);
  if (!path) return null;
  const { total, done, failed, cancelled } = path.children!.map!;
  return { nodeId: path.nodeId, total, done, failed, cancelled };
}

function shortParked({ code, message, until }: Parked): StateSummary["parked"] & object {
  return { code, message, ...(until !== undefined && { until }) };
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
