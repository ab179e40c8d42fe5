import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { CancelledEvent, ContinuedEvent, DeliveredEvent, Event, MetadataSetEvent } from "../snapshot/event.ts";
import { beginRun } from "./begin-run.ts";
import { skipItem } from "./children/children.ts";
import { close, finish } from "./close.ts";
import { markChanged } from "./draft/add-result.ts";
import type { Draft, ScopeDraft } from "./draft/draft.ts";
import { endsParking, park } from "./draft/draft-status.ts";
import { releaseVariables } from "./draft/draft-variables.ts";
import { countEvent, setMetadata, warnIfLarge } from "./draft/held-size.ts";
import { scopeAt } from "./draft/open-draft.ts";
import { applyDelivered, hasOnlyMessages, isEndCertain } from "./draft/outbox.ts";
import { countAttempt } from "./events/current-path.ts";
import {
  applyCancelled,
  applyExpired,
  applyItemAdded,
  applyMapClosed,
  applyResumed,
  applyRetried,
  applyTimedOut,
} from "./events/path-events.ts";
import { applyAnswerRefused, applyBegun, applyCompleted, applyFailed, applySpawned, applySuspended } from "./events/step-events.ts";
import { terminate } from "./paths/end-path.ts";
import { applySignalled } from "./paths/signals.ts";
import { settle } from "./settle.ts";

/**
 * Applies one event to a draft, with everything that follows from it.
 *
 * @returns false if the event does not apply, for example because it comes too late. The state of the execution does not change then; only
 * the consequences and warnings of the event before are cleared (docs/path-semantics.md, "Scopes and transitions").
 * @param workflow the definition that the event names (`continued`). Default: the present one
 */
export function evolve(draft: Draft, event: Event, workflow: CompiledWorkflow = draft.workflow): boolean {
  if (draft.ended || event.version !== draft.version + 1) return false;
  const { parked, sizeBytes } = draft;
  if (draft.warnings.length > 0) draft.warnings = [];
  if (!moved(draft, event, workflow)) return false;
  warnIfLarge(draft, sizeBytes);
  if (parked && draft.parked === parked && endsParking(event)) draft.parked = undefined;
  countEvent(draft, event);
  return true;
}

function moved(draft: Draft, event: Event, workflow: CompiledWorkflow): boolean {
  // an execution that has not ended cannot be restarted; `draftAfter` restarts one that has ended
  if (event.type === "restarted") return false;
  if (event.type === "continued") return takeContinued(draft, event, workflow);
  if (event.type === "parked" || event.type === "unparked") return park(draft, event);
  if (event.type === "metadataSet") return takeMetadata(draft, event);
  return event.type === "delivered" ? takeDelivered(draft, event) : taken(draft, event);
}

/** Begins the next run. The run that ends performs no `finally` nodes and undoes nothing; its detached executions are cancelled. */
function takeContinued(draft: Draft, event: ContinuedEvent, workflow: CompiledWorkflow): boolean {
  if (isEndCertain(draft) || !countAttempt(draft, event)) return false;
  draft.results = [];
  draft.endedPaths = [];
  draft.errorExits = null;
  terminate(draft);
  beginRun(draft, event, workflow);
  return true;
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
  if (isAgain && draft.ended) finish(draft, event.version);
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
  if (draft.ended) finish(draft, event.version, isAgain && event.type === "cancelled");
  if (draft.scopesWithOldValues) releaseVariables(draft);
  draft.version = event.version;
  if (event.sizeBytes !== undefined) draft.sizeBytes += event.sizeBytes;
  return true;
}

/** Returns the event as it is stored: with its consequences at other places, if there are any. */
export function withConsequences<E extends Event>({ results, endedPaths }: Draft, event: E): E {
  if (results.length === 0 && endedPaths.length === 0) return event;
  const consequences = { ...(results.length > 0 && { results }), ...(endedPaths.length > 0 && { ended: endedPaths }) };
  return { ...event, consequences };
}

/** The events that may move paths. */
type ScopedEvent = Exclude<Event, { type: "delivered" | "parked" | "unparked" | "metadataSet" | "continued" | "restarted" }>;

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
    case "failed":
      return applyFailed(scope, event);
    case "suspended":
      return applySuspended(scope, event);
    case "answerRefused":
      return applyAnswerRefused(scope, event);
    case "spawned":
      return applySpawned(scope, event);
    case "resumed":
      return applyResumed(scope, event);
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
