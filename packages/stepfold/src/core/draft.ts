import type { CompiledWorkflow } from "./compiled.ts";
import type { EpochMs, Json } from "./json.ts";
import { earliestRetry } from "./plan.ts";
import type { ActivePath, Context, ErrorInfo, NodeResult, Resumed, RetryState, Snapshot, SnapshotHead, Status, Wait } from "./snapshot.ts";

/** A path that its draft may change. Constant shape: every field is always there. */
export interface DraftPath {
  id: string;
  nodeId: string;
  status: ActivePath["status"];
  turn: number;
  visit: number;
  attempts: number;
  since: number;
  forks: number;
  via: string | undefined;
  waits: readonly Wait[] | undefined;
  nextRetryAt: EpochMs | undefined;
  resumed: Resumed | undefined;
  /** The draft's own list. */
  stepPath: string[];
}

/**
 * A snapshot in the making, owned by one turn.
 *
 * It is opened once from a snapshot, takes any number of events and is closed into the next snapshot. What an
 * event costs depends on what it changes, not on how much the execution holds.
 */
export interface Draft {
  readonly workflow: CompiledWorkflow;
  readonly workflowId: string;
  readonly definition: { readonly id: string; readonly hash: string };
  readonly metadata: Readonly<Record<string, Json>>;
  readonly input: Json | undefined;
  readonly createdAt: EpochMs | undefined;
  readonly incarnation: string | undefined;
  version: number;
  paths: DraftPath[];
  /** How it ended; null while it goes on. */
  ended: "completed" | "failed" | "cancelled" | null;
  failedAt: string | null;
  output: Json | undefined;
  error: ErrorInfo | undefined;
  lastStartedAt: EpochMs | undefined;
  totalExecutionTime: number | undefined;
  steps: number;
  sizeBytes: number;
  /** Starts out as the very context that was given, and is copied before the first result is added. */
  context: Record<string, NodeResult[]>;
  /** The context as it was given: a list that is still the same here must be copied before it grows. */
  borrowed: Context;
}

/** Starts work on a snapshot, which stays as it is. */
export function openDraft(workflow: CompiledWorkflow, snapshot: Snapshot): Draft {
  const { status } = snapshot;
  const context = keptContext(workflow, snapshot.context);
  return {
    workflow,
    workflowId: snapshot.workflowId,
    definition: snapshot.definition,
    metadata: snapshot.metadata,
    input: snapshot.input,
    createdAt: snapshot.createdAt,
    incarnation: snapshot.incarnation,
    version: snapshot.version,
    paths: snapshot.activePaths.map(draftPath),
    ended: status === "completed" || status === "failed" || status === "cancelled" ? status : null,
    failedAt: status === "failed" || status === "cancelled" ? snapshot.currentNodeId : null,
    output: snapshot.output,
    error: snapshot.error,
    lastStartedAt: snapshot.lastStartedAt,
    totalExecutionTime: snapshot.totalExecutionTime,
    steps: snapshot.steps,
    sizeBytes: snapshot.sizeBytes,
    context: context as Record<string, NodeResult[]>,
    borrowed: context,
  };
}

/** What is to be kept of a context: a store gives all that there ever was. */
function keptContext({ definition }: CompiledWorkflow, context: Context): Context {
  let kept = context;
  for (const { id, keep } of definition.nodes) {
    if (keep === undefined || !Object.hasOwn(context, id) || context[id]!.length <= keep) continue;
    if (kept === context) kept = { ...context };
    (kept as Record<string, readonly NodeResult[]>)[id] = Object.freeze(context[id]!.slice(-keep));
  }
  return Object.freeze(kept);
}

/**
 * The snapshot that a draft has become, frozen. The draft may go on.
 *
 * @param mark sees it last before it is frozen
 */
export function closeDraft(draft: Draft, mark?: (snapshot: Snapshot) => void): Snapshot {
  const { context } = draft;
  for (const nodeId in context) Object.freeze(context[nodeId]);
  draft.borrowed = Object.freeze(context);
  const snapshot: Mutable<Snapshot> = Object.assign(headFields(draft), { context });
  mark?.(snapshot);
  return Object.freeze(snapshot);
}

/** The draft without its context: what a commit writes. */
export function headOf(draft: Draft): SnapshotHead {
  return Object.freeze(headFields(draft));
}

/** Status of the whole: a path that is ready counts before one that retries, and that before one that waits. */
export function statusOf(draft: Draft): Status {
  if (draft.ended) return draft.ended;
  let status: Status = "paused";
  for (const path of draft.paths) {
    if (path.status === "ready") return "active";
    if (path.status === "retrying") status = "error";
  }
  return status;
}

/** When somebody must drive the execution: 0 for now, null for never. */
export function wakeAt(draft: Draft): EpochMs | null {
  let earliest = Number.POSITIVE_INFINITY;
  if (draft.ended) return null;
  for (const { status, nextRetryAt, waits } of draft.paths) {
    if (status === "ready") return 0;
    if (status === "retrying") earliest = Math.min(earliest, nextRetryAt ?? 0);
    for (const wait of waits ?? []) earliest = Math.min(earliest, wait.resumeAt ?? earliest, wait.timeoutAt ?? earliest);
  }
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function headFields(draft: Draft): Mutable<SnapshotHead> {
  const { ended, paths } = draft;
  const head: Mutable<SnapshotHead> = {
    schema: 1,
    workflowId: draft.workflowId,
    definition: draft.definition,
    status: statusOf(draft),
    currentNodeId: ended ? draft.failedAt : paths[0]!.nodeId,
    activePaths: Object.freeze(paths.map(activePath)),
    version: draft.version,
    metadata: draft.metadata,
    steps: draft.steps,
    sizeBytes: draft.sizeBytes,
  };
  const retryState = ended ? undefined : retryStateOf(paths);
  if (retryState) head.retryState = retryState;
  if (draft.lastStartedAt !== undefined) head.lastStartedAt = draft.lastStartedAt;
  if (draft.totalExecutionTime !== undefined) head.totalExecutionTime = draft.totalExecutionTime;
  if (draft.input !== undefined) head.input = draft.input;
  if (draft.output !== undefined) head.output = draft.output;
  if (draft.error !== undefined) head.error = draft.error;
  if (draft.createdAt !== undefined) head.createdAt = draft.createdAt;
  if (draft.incarnation !== undefined) head.incarnation = draft.incarnation;
  return head;
}

function retryStateOf(paths: readonly DraftPath[]): RetryState | undefined {
  const first = earliestRetry(paths);
  if (!first) return undefined;
  const { nodeId, attempts, nextRetryAt } = first;
  return Object.freeze(nextRetryAt === undefined ? { nodeId, attempts } : { nodeId, attempts, nextRetryAt });
}

function draftPath(path: ActivePath): DraftPath {
  const { id, nodeId, status, turn, visit, attempts, since, forks = 0, via, waits, nextRetryAt, resumed, stepPath } = path;
  return { id, nodeId, status, turn, visit, attempts, since, forks, via, waits, nextRetryAt, resumed, stepPath: [...stepPath] };
}

function activePath(path: DraftPath): ActivePath {
  const { id, nodeId, status, turn, visit, attempts, since } = path;
  const active: Mutable<ActivePath> = { id, nodeId, status, turn, visit, attempts, since, stepPath: Object.freeze([...path.stepPath]) };
  if (path.forks > 0) active.forks = path.forks;
  if (path.via !== undefined) active.via = path.via;
  if (path.waits) active.waits = path.waits;
  if (path.nextRetryAt !== undefined) active.nextRetryAt = path.nextRetryAt;
  if (path.resumed) active.resumed = path.resumed;
  return Object.freeze(active);
}
