import { errorInfo } from "../errors/error-info.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { scopedKey } from "../snapshot/address.ts";
import type {
  AnswerRefusedEvent,
  BegunEvent,
  CancelledEvent,
  CompletedEvent,
  ContinuedEvent,
  DeliveredEvent,
  Event,
  ExpiredEvent,
  FailedEvent,
  ItemAddedEvent,
  MapClosedEvent,
  MetadataSetEvent,
  SpawnedEvent,
  SuspendedEvent,
  TimedOutEvent,
} from "../snapshot/event.ts";
import { isLargeIn, referring } from "../snapshot/large-values.ts";
import { resultOf } from "../snapshot/result.ts";
import type { Wait } from "../snapshot/snapshot.ts";
import { type Json, sizeOfJson } from "../values/json.ts";
import { cancellation, countItems, skipItem, spawn } from "./children/children.ts";
import { failWhole } from "./children/complete-children.ts";
import type { CompiledWorkflow } from "../definition/compiled.ts";
import { beginRun } from "./begin-run.ts";
import { close } from "./close.ts";
import { addResult, markChanged } from "./draft/add-result.ts";
import { type Draft, isChild, type ScopeDraft } from "./draft/draft.ts";
import { clearWaits, type DraftPath, recordAnswer, visitAgain } from "./draft/draft-path.ts";
import { deadlineIn, earliestTimer, endsParking, park } from "./draft/draft-status.ts";
import { releaseVariables, setVariables } from "./draft/draft-variables.ts";
import { countEvent, setMetadata, subtractSize, warnIfLarge } from "./draft/held-size.ts";
import { scopeAt } from "./draft/open-draft.ts";
import {
  applyDelivered,
  enqueueEnd,
  enqueueSends,
  enqueueSignal,
  enqueueStart,
  hasOnlyMessages,
  isEndCertain,
  withdraw,
} from "./draft/outbox.ts";
import { reopen } from "./draft/reopen.ts";
import { endPath, forgetChildren, stop, terminate } from "./paths/end-path.ts";
import { failPath } from "./paths/fail-path.ts";
import { openIncident, settleIncident } from "./paths/incident.ts";
import { cancelOthers, leave } from "./paths/leave.ts";
import { applySignalled, takeKept } from "./paths/signals.ts";
import { compensated, holdOpen } from "./paths/undo.ts";
import { settle } from "./settle.ts";

/**
 * Applies one event to a draft, with everything that follows from it.
 *
 * @returns false if the event does not apply, for example because it comes too late. The state of the execution does not change then; only
 * the consequences and warnings of the event before are cleared (docs/path-semantics.md, "Scopes and transitions").
 */
export function evolve(draft: Draft, event: Event, next?: CompiledWorkflow): boolean {
  if (event.version !== draft.version + 1) return false;
  if (draft.ended) return false;
  if (event.type === "continued" && next) draft.next = next;
  const { parked, sizeBytes } = draft;
  if (draft.warnings.length > 0) draft.warnings = [];
  if (!moved(draft, event)) return false;
  warnIfLarge(draft, sizeBytes);
  if (parked && draft.parked === parked && endsParking(event)) draft.parked = undefined;
  countEvent(draft, event);
  return true;
}

function moved(draft: Draft, event: Event): boolean {
  // a restart makes another draft (`next`)
  if (event.type === "restarted") return false;
  if (event.type === "parked" || event.type === "unparked") return park(draft, event);
  if (event.type === "metadataSet") return takeMetadata(draft, event);
  return event.type === "delivered" ? takeDelivered(draft, event) : taken(draft, event);
}

/** Applies a change of the metadata. It changes no path, so nothing follows from it, and a parked execution stays parked. */
function takeMetadata(draft: Draft, { metadata, version }: MetadataSetEvent): boolean {
  if (isEndCertain(draft)) return false;
  setMetadata(draft, metadata);
  draft.results = [];
  draft.endedPaths = [];
  draft.version = version;
  return true;
}

function takeDelivered(draft: Draft, event: DeliveredEvent): boolean {
  const isAgain = draft.ending?.again !== undefined;
  if (!applyDelivered(draft, event)) return false;
  if (isAgain && draft.ended) end(draft, event.version, false);
  return true;
}

function taken(draft: Draft, event: ScopedEvent): boolean {
  if (isEndCertain(draft)) return false;
  if (draft.results.length > 0) draft.results = [];
  if (draft.endedPaths.length > 0) draft.endedPaths = [];
  draft.errorExits = null;
  const isAgain = draft.ending?.again !== undefined;
  const scope = take(draft, event);
  if (!scope) return false;
  // an execution whose end is decided has no path, and must not be taken for one that has just completed
  if (!hasOnlyMessages(draft)) settle(scope, event.at);
  // when failed compensations are tried again, the `finally` nodes have already run
  if (draft.ended && !isAgain && (draft.closing || draft.workflow.finally)) close(draft, event.at);
  if (draft.ended) end(draft, event.version, isAgain && event.type === "cancelled");
  if (draft.scopesWithOldValues) releaseVariables(draft);
  draft.version = event.version;
  if (event.sizeBytes !== undefined) draft.sizeBytes += event.sizeBytes;
  return true;
}

/**
 * Finishes an execution that has just ended. It becomes open again if a compensation failed (see `holdOpen`) or if messages must still be
 * delivered (see `enqueueEnd`).
 *
 * @param givesUp true if failed compensations are not tried again
 */
function end(draft: Draft, version: number, givesUp: boolean): void {
  draft.begun = [];
  const isHeld = !givesUp && draft.compensations.length > 0 && holdOpen(draft, version);
  forgetChildren(draft);
  if (!isHeld) enqueueEnd(draft);
}

/** Returns the event as it is stored: with its consequences at other places, if there are any. */
export function withConsequences<E extends Event>({ results, endedPaths }: Draft, event: E): E {
  if (results.length === 0 && endedPaths.length === 0) return event;
  const consequences = { ...(results.length > 0 && { results }), ...(endedPaths.length > 0 && { ended: endedPaths }) };
  return { ...event, consequences };
}

/** The events that may move paths. */
type ScopedEvent = Exclude<Event, { type: "delivered" | "parked" | "unparked" | "metadataSet" | "restarted" }>;

/** Applies an event to its scope. Returns the scope that has changed; null if the event does not apply. */
function take(draft: Draft, event: ScopedEvent): ScopeDraft | null {
  if (event.type === "started") return null;
  const scope = event.type === "signalled" ? applySignalled(draft, event) : scopeAt(draft, event.scope);
  if (!scope && event.type === "cancelled") return skipped(draft, event);
  if (!scope || scope.ended || (event.type !== "signalled" && !takeIn(scope, event))) return null;
  markChanged(scope, event.version);
  return scope;
}

function skipped(draft: Draft, event: CancelledEvent): ScopeDraft | null {
  const scope = skipItem(draft, event.scope!, event);
  if (scope) markChanged(scope, event.version);
  return scope;
}

function takeIn(scope: ScopeDraft, event: Exclude<ScopedEvent, { type: "started" | "signalled" }>): boolean {
  switch (event.type) {
    case "begun":
      return applyBegun(scope, event);
    case "completed":
      return applyCompleted(scope, event);
    case "continued":
      return applyContinued(scope.root, event);
    case "failed":
      return applyFailed(scope, event);
    case "suspended":
      return applySuspended(scope, event);
    case "answerRefused":
      return applyAnswerRefused(scope, event);
    case "spawned":
      return applySpawned(scope, event);
    case "resumed": {
      const found = waiting(scope, event.pathId, event.waitId);
      // no answer can end a wait for children: it ends with the children, or at its `timeoutAt`
      if (found?.wait.kind === "children") return false;
      if (found?.wait.kind === "incident") settleIncident(scope, found.path, found.wait, event);
      else if (found) recordAnswer(scope.root, found.path, found.wait, event);
      return found !== null;
    }
    case "timedOut":
      return applyTimedOut(scope, event);
    case "expired":
      return applyExpired(scope, event);
    case "retried":
      return applyRetried(scope, event.pathId);
    case "cancelled":
      return applyCancelled(scope, event);
    case "itemAdded":
      return applyItemAdded(scope, event);
    case "mapClosed":
      return applyMapClosed(scope, event);
    default:
      return false;
  }
}

function applyBegun(scope: ScopeDraft, { pathId, turn }: BegunEvent): boolean {
  const path = pathWith(scope, pathId);
  if (!path || path.turn !== turn || (path.status !== "ready" && path.status !== "retrying")) return false;
  path.begun = true;
  return true;
}

function applyCompleted(scope: ScopeDraft, event: CompletedEvent): boolean {
  const path = performed(scope, event);
  if (!path) return false;
  const { nodeId, version } = event;
  const { result } = resultOf(event)!;
  if (event.undoes) {
    compensated(scope, nodeId, result);
    return true;
  }
  path.begun = false;
  if (event.starts) enqueueStart(scope.root, event.starts);
  if (event.sends) enqueueSends(scope.root, event.sends);
  addResult(scope, path.node, result);
  if (event.variables) setVariables(scope, event.variables, version);
  if (event.metadata) setMetadata(scope.root, event.metadata);
  if (event.terminates) {
    terminate(scope);
    setOutput(scope, event);
    return true;
  }
  cancelOthers(scope, path);
  if (!leave(scope, path, event.handles, version)) setOutput(scope, event);
  return true;
}

function applyContinued(root: Draft, event: ContinuedEvent): boolean {
  if (!performed(root, event)) return false;
  terminate(root);
  beginRun(root, event);
  return true;
}

function setOutput(scope: ScopeDraft, event: CompletedEvent): void {
  const { output, version } = event;
  scope.output = output;
  scope.outputInEvents = isLargeIn(scope.root, event) ? { output, at: `${version}/output` } : undefined;
}

function applyFailed(scope: ScopeDraft, event: FailedEvent): boolean {
  const path = performed(scope, event);
  if (!path) return false;
  const { nodeId, version, attempt, retryAt, begun = false } = event;
  path.begun = begun;
  const { result } = resultOf(event)!;
  if (!event.undoes) addResult(scope, path.node, result);
  if (retryAt !== null) {
    path.status = "retrying";
    path.attempts = attempt;
    path.nextRetryAt = retryAt;
    if (event.anew) {
      clearWaits(scope.root, path);
      visitAgain(path);
    } else path.turn++;
  } else if (event.undoes) compensated(scope, nodeId, result);
  else if (event.incident) openIncident(scope, path, event);
  else failPath(scope, path, event.error, event.handle, version);
  return true;
}

function applySuspended(scope: ScopeDraft, event: SuspendedEvent): boolean {
  const path = performed(scope, event);
  if (!path) return false;
  path.status = "suspended";
  path.turn++;
  // the answer to the message decides whether this attempt succeeds, so the failed attempts before it still count
  if (!event.starts && !event.signal) path.attempts = 0;
  path.nextRetryAt = undefined;
  clearWaits(scope.root, path);
  const isLarge = isLargeIn(scope.root, event);
  path.waits = Object.freeze(
    event.waits.map((wait, index) => {
      const open = { ...wait, openedAt: event.at };
      return Object.freeze(isLarge ? referring(open, `${event.version}/waits/${index}`, "payload", "schema") : open);
    }),
  );
  if (event.starts) enqueueStart(scope.root, event.starts, event.waits[0]!.id);
  if (event.signal) enqueueSignal(scope.root, event.signal, event.waits[0]!.id);
  if (event.schemas) holdSchemas(scope.root, event.schemas);
  takeKept(scope.root, path, event.at);
  return true;
}

/** Adds payload schemas to the execution. Several steps may bring the same schema at once; its size is counted only once. */
function holdSchemas(root: Draft, schemas: NonNullable<SuspendedEvent["schemas"]>): void {
  for (const [id, schema] of Object.entries(schemas))
    if (root.schemas && Object.hasOwn(root.schemas, id)) subtractSize(root, sizeOfJson(schema as Json));
  root.schemas = Object.freeze({ ...schemas, ...root.schemas });
}

function applyAnswerRefused(scope: ScopeDraft, event: AnswerRefusedEvent): boolean {
  const reopens = pathWith(scope, event.pathId)?.resumed?.reopens;
  const path = reopens ? performed(scope, event) : null;
  if (!reopens || !path) return false;
  reopen(scope, path, reopens, event);
  // a timer that became due in the meantime comes before a signal from the inbox
  if ((earliestTimer([path]) ?? Number.POSITIVE_INFINITY) > event.at) takeKept(scope.root, path, event.at);
  return true;
}

function applySpawned(scope: ScopeDraft, event: SpawnedEvent): boolean {
  const path = performed(scope, event);
  if (path) spawn(scope, path, event);
  return path !== null;
}

function applyTimedOut(scope: ScopeDraft, event: TimedOutEvent): boolean {
  const found = waiting(scope, event.pathId, event.waitId);
  if (!found) return false;
  const { result } = resultOf(event);
  withdraw(scope.root, found.path.waits!);
  clearWaits(scope.root, found.path);
  found.path.status = "ready";
  if (event.undoes) {
    compensated(scope, event.nodeId, result);
    return true;
  }
  addResult(scope, found.path.node, result);
  scope.root.sizeBytes += event.error.message.length;
  if (found.path.children) failWhole(scope, found.path, event, event.version);
  else failPath(scope, found.path, event.error, event.handle, event.version);
  return true;
}

/** Fails a scope whose deadline has passed. Unlike the failure of a step, it ends all paths at once even with `onFailure: "finish"`. */
function applyExpired(scope: ScopeDraft, { at, version }: ExpiredEvent): boolean {
  const deadlineAt = deadlineIn(scope);
  if (deadlineAt > at) return false;
  const { workflow, root } = scope;
  const deadline = new Date(deadlineAt).toISOString();
  const details = { workflowId: root.workflowId, deadline, ...(isChild(scope) && { workflow: workflow.definition.id }) };
  stop(scope, "failed", scope.paths[0]!.nodeId, errorInfo(new StepfoldError("EXECUTION_TIMED_OUT", details)), version);
  return true;
}

function applyRetried(scope: ScopeDraft, pathId: string): boolean {
  const path = pathWith(scope, pathId);
  if (path?.status !== "retrying") return false;
  // `turn` rose when the attempt failed and does not rise again, so a retry that was begun before its time stays current
  path.status = "ready";
  path.nextRetryAt = undefined;
  return true;
}

function applyCancelled(scope: ScopeDraft, { pathIds, reason, version }: CancelledEvent): boolean {
  if (scope.ending) return !pathIds && giveUp(scope);
  if (!pathIds) {
    if (!isChild(scope) && scope.root.closing) return false;
    stop(scope, "cancelled", scope.paths[0]!.nodeId, cancellation(scope.key, reason), version);
    return true;
  }
  const paths = scope.paths.filter(({ id }) => pathIds.includes(id));
  for (const path of paths) endPath(scope, path, "cancelled");
  return paths.length > 0;
}

/** Ends an execution without trying failed compensations again. */
function giveUp(scope: ScopeDraft): boolean {
  const { ending, root } = scope;
  if (!ending?.again) return false;
  scope.paths = [];
  scope.ended = ending.status;
  scope.error = ending.error;
  scope.ending = undefined;
  root.endedPathCount++;
  return true;
}

function applyItemAdded(scope: ScopeDraft, { pathId, item }: ItemAddedEvent): boolean {
  const children = pathWith(scope, pathId)?.children;
  if (!children?.map?.open) return false;
  const key = scopedKey(scope.key, children.key);
  scope.root.mapItems.set(key, Object.freeze([...scope.root.mapItems.get(key)!, item]));
  countItems(children, { total: children.map.total + 1 });
  return true;
}

function applyMapClosed(scope: ScopeDraft, { pathId, completes }: MapClosedEvent): boolean {
  const children = pathWith(scope, pathId)?.children;
  if (!children?.map || (!completes && !children.map.open)) return false;
  const { open: _, ...closed } = children.map;
  children.map = Object.freeze(completes ? { ...closed, completeWhen: 0, remaining: "cancel" as const } : closed);
  return true;
}

/** Counts the attempt that an event reports, and returns its path; null if the task of the event is not current any more. */
function performed(
  scope: ScopeDraft,
  event: CompletedEvent | ContinuedEvent | FailedEvent | SuspendedEvent | AnswerRefusedEvent | SpawnedEvent,
): DraftPath | null {
  const path = pathWith(scope, event.pathId);
  if (!path || path.turn !== event.turn || path.status === "suspended" || path.status === "joining") return null;
  const { root } = scope;
  root.steps++;
  root.lastStartedAt = event.startedAt;
  root.totalExecutionTime = (root.totalExecutionTime ?? 0) + Math.max(0, event.at - event.startedAt);
  return path;
}

function waiting(scope: ScopeDraft, pathId: string, waitId: string): { path: DraftPath; wait: Wait } | null {
  const path = pathWith(scope, pathId);
  const wait = path?.waits?.find(({ id }) => id === waitId);
  return path && wait ? { path, wait } : null;
}

function pathWith({ paths }: ScopeDraft, pathId: string): DraftPath | undefined {
  for (const path of paths) if (path.id === pathId) return path;
  return undefined;
}
