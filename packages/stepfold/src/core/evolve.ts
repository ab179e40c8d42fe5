import type { CompiledEdge } from "./compiled.ts";
import type { Draft, DraftPath } from "./draft.ts";
import type { CompletedEvent, Event, FailedEvent, ResumedEvent, SuspendedEvent, TimedOutEvent } from "./event.ts";
import { forkId } from "./path-id.ts";
import { resultOf } from "./result.ts";
import { settle } from "./settle.ts";
import type { ErrorInfo, Resumed, Wait } from "./snapshot.ts";

const stepPathLength = 32;

/**
 * Lets a draft take one event, with all that follows from it.
 *
 * @returns false, and the draft unchanged, if the event does not follow: PATHS rule R0, a late or refused event changes nothing
 */
export function evolve(draft: Draft, event: Event): boolean {
  if (draft.ended || event.version !== draft.version + 1 || !take(draft, event)) return false;
  draft.version = event.version;
  if (event.sizeBytes !== undefined) draft.sizeBytes += event.sizeBytes;
  settle(draft, event.at);
  return true;
}

function take(draft: Draft, event: Event): boolean {
  switch (event.type) {
    case "completed":
      return completed(draft, event);
    case "failed":
      return failed(draft, event);
    case "suspended":
      return suspended(draft, event);
    case "resumed":
      return resumed(draft, event);
    case "timedOut":
      return timedOut(draft, event);
    case "retried":
      return retried(draft, event.pathId);
    case "cancelled":
      end(draft, "cancelled", draft.paths[0]!.nodeId);
      return true;
    default:
      return false;
  }
}

function completed(draft: Draft, event: CompletedEvent): boolean {
  const path = performed(draft, event);
  if (!path) return false;
  addResult(draft, event);
  leave(draft, path, event.handles, event.version);
  if (draft.paths.length === 0) draft.output = event.output;
  return true;
}

function failed(draft: Draft, event: FailedEvent): boolean {
  const path = performed(draft, event);
  if (!path) return false;
  addResult(draft, event);
  if (event.retryAt !== null) {
    path.status = "retrying";
    path.attempts = event.attempt;
    path.nextRetryAt = event.retryAt;
    path.turn++;
    return true;
  }
  return fail(draft, path, event);
}

function suspended(draft: Draft, event: SuspendedEvent): boolean {
  const path = performed(draft, event);
  if (!path) return false;
  path.status = "suspended";
  path.turn++;
  path.attempts = 0;
  path.nextRetryAt = undefined;
  path.resumed = undefined;
  path.waits = event.waits;
  return true;
}

function resumed(draft: Draft, event: ResumedEvent): boolean {
  const found = waiting(draft, event.pathId, event.waitId);
  if (!found) return false;
  const { path, wait } = found;
  const why: { by: Resumed["by"]; payload?: Resumed["payload"]; suspendPayload?: Resumed["suspendPayload"] } = { by: event.by };
  if (event.payload !== undefined) why.payload = event.payload;
  if (wait.payload !== undefined) why.suspendPayload = wait.payload;
  path.status = "ready";
  path.turn++;
  path.waits = undefined;
  path.resumed = Object.freeze(why);
  return true;
}

function timedOut(draft: Draft, event: TimedOutEvent): boolean {
  const found = waiting(draft, event.pathId, event.waitId);
  if (!found) return false;
  addResult(draft, event);
  return fail(draft, found.path, event);
}

function retried(draft: Draft, pathId: string): boolean {
  const path = draft.paths.find(({ id }) => id === pathId);
  if (path?.status !== "retrying") return false;
  path.status = "ready";
  path.nextRetryAt = undefined;
  path.turn++;
  return true;
}

/** The path whose current task the event tells of; null if that task is no longer current. */
function performed(draft: Draft, event: CompletedEvent | FailedEvent | SuspendedEvent): DraftPath | null {
  const path = draft.paths.length === 1 ? draft.paths[0] : draft.paths.find(({ id }) => id === event.pathId);
  if (!path || path.id !== event.pathId || path.turn !== event.turn || path.status === "suspended") return null;
  draft.steps++;
  draft.lastStartedAt = event.startedAt;
  draft.totalExecutionTime = (draft.totalExecutionTime ?? 0) + Math.max(0, event.at - event.startedAt);
  return path;
}

function waiting(draft: Draft, pathId: string, waitId: string): { path: DraftPath; wait: Wait } | null {
  const path = draft.paths.find(({ id }) => id === pathId);
  const wait = path?.waits?.find(({ id }) => id === waitId);
  return path && wait ? { path, wait } : null;
}

/** Goes on by the handle that the event names, or ends the execution. */
function fail(
  draft: Draft,
  path: DraftPath,
  { handle, error, nodeId, version }: { handle?: string; error: ErrorInfo; nodeId: string; version: number },
): true {
  if (handle !== undefined) leave(draft, path, [handle], version);
  else {
    draft.error = error;
    end(draft, "failed", nodeId);
  }
  return true;
}

function end(draft: Draft, how: "failed" | "cancelled", nodeId: string | null): void {
  draft.ended = how;
  draft.failedAt = nodeId;
  draft.paths = [];
}

/** R2: the path takes the first edge, each other edge gets a new path; with no edge the path ends. */
function leave(draft: Draft, path: DraftPath, handles: readonly string[] | undefined, version: number): void {
  const { edges, next } = draft.workflow.nodes.get(path.nodeId)!;
  const taken = handles ? handles.flatMap((handle) => edges.get(handle) ?? []) : next;
  const first = taken[0];
  if (!first) {
    draft.paths.splice(draft.paths.indexOf(path), 1);
    return;
  }
  path.stepPath.push(path.nodeId);
  if (path.stepPath.length > stepPathLength) path.stepPath.shift();
  for (let i = 1; i < taken.length; i++) {
    const id = forkId(path.id, ++path.forks, (candidate) => draft.paths.some((open) => open.id === candidate));
    const born = { ...path, id, turn: 0, forks: 0, stepPath: [...path.stepPath] };
    arrive(born, taken[i]!, version);
    draft.paths.push(born);
  }
  arrive(path, first, version);
}

function arrive(path: DraftPath, edge: CompiledEdge, version: number): void {
  path.nodeId = edge.target.node.id;
  path.status = "ready";
  path.turn++;
  path.visit = path.turn;
  path.attempts = 0;
  path.since = version;
  path.via = edge.via;
  path.waits = undefined;
  path.nextRetryAt = undefined;
  path.resumed = undefined;
}

function addResult(draft: Draft, event: CompletedEvent | FailedEvent | TimedOutEvent): void {
  const { nodeId, result } = resultOf(event)!;
  if (draft.context === draft.borrowed) draft.context = { ...draft.context };
  const { context, borrowed } = draft;
  let results = Object.hasOwn(context, nodeId) ? context[nodeId]! : undefined;
  if (results === undefined) results = [];
  else if (Object.hasOwn(borrowed, nodeId) && results === borrowed[nodeId]) results = results.slice();
  results.push(result);
  const keep = draft.workflow.nodes.get(nodeId)?.node.keep;
  if (keep !== undefined && results.length > keep) results.splice(0, results.length - keep);
  context[nodeId] = results;
}
