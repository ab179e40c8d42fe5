import type { AnswerRefusedEvent, BegunEvent, CompletedEvent, FailedEvent, SpawnedEvent, SuspendedEvent } from "../../snapshot/event.ts";
import { isLargeIn, referring } from "../../snapshot/large-values.ts";
import { resultOf } from "../../snapshot/result.ts";
import { type Json, sizeOfJson } from "../../values/json.ts";
import { spawn } from "../children/children.ts";
import { askedPath } from "../code/code-path.ts";
import { addResult } from "../draft/add-result.ts";
import type { Draft, ScopeDraft } from "../draft/draft.ts";
import { clearWaits, visitAgain } from "../draft/draft-path.ts";
import { earliestTimer } from "../draft/draft-status.ts";
import { setVariables } from "../draft/draft-variables.ts";
import { setMetadata, subtractSize } from "../draft/held-size.ts";
import { enqueueSends, enqueueSignal, enqueueStart } from "../draft/outbox.ts";
import { reopen } from "../draft/reopen.ts";
import { terminate } from "../paths/end-path.ts";
import { failPath } from "../paths/fail-path.ts";
import { openIncident } from "../paths/incident.ts";
import { cancelOthers, leave } from "../paths/leave.ts";
import { takeKept } from "../paths/signals.ts";
import { compensated } from "../paths/undo.ts";
import { countAttempt, pathWith } from "./current-path.ts";

// Each function applies what an attempt of a step has led to. It returns false if the task of the event is not current any more.

export function applyBegun(scope: ScopeDraft, event: BegunEvent): boolean {
  const { pathId, turn } = event;
  const path = pathWith(scope, pathId) ?? askedPath(scope, event);
  if (!path || path.turn !== turn || (path.status !== "ready" && path.status !== "retrying")) return false;
  path.begun = true;
  path.acted = undefined;
  return true;
}

export function applyCompleted(scope: ScopeDraft, event: CompletedEvent): boolean {
  const path = countAttempt(scope, event);
  if (!path) return false;
  const { nodeId, version } = event;
  const { result } = resultOf(event)!;
  if (event.undoes) {
    compensated(scope, nodeId, result);
    return true;
  }
  path.begun = false;
  path.acted = undefined;
  if (event.starts) enqueueStart(scope.root, event.starts);
  if (event.sends) enqueueSends(scope.root, event.sends);
  addResult(scope, path.node, result);
  if (event.variables || event.appended) setVariables(scope, event, version);
  if (event.metadata) setMetadata(scope.root, event.metadata);
  if (event.terminates) {
    terminate(scope);
    setOutput(scope, event);
    return true;
  }
  cancelOthers(scope, path);
  // what code returns is the output of its scope, and not what its steps give
  if (!leave(scope, path, event.handles, version) && !scope.workflow.code) setOutput(scope, event);
  return true;
}

function setOutput(scope: ScopeDraft, event: CompletedEvent): void {
  const { output, version } = event;
  scope.output = output;
  scope.outputInEvents = isLargeIn(scope.root, event) ? { output, at: `${version}/output` } : undefined;
}

export function applyFailed(scope: ScopeDraft, event: FailedEvent): boolean {
  const path = countAttempt(scope, event);
  if (!path) return false;
  const { nodeId, version, attempt, retryAt, begun = false } = event;
  path.begun = begun;
  if (begun) path.acted = undefined;
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

export function applySuspended(scope: ScopeDraft, event: SuspendedEvent): boolean {
  const path = countAttempt(scope, event);
  if (!path) return false;
  path.status = "suspended";
  path.turn++;
  // the answer to the message decides whether this attempt succeeds, so the failed attempts before it still count
  if (!event.starts && !event.signal) path.attempts = 0;
  path.nextRetryAt = undefined;
  clearWaits(scope.root, path);
  const isLarge = isLargeIn(scope.root, event);
  const waits = event.waits.map((wait, index) => {
    const open = { ...wait, openedAt: event.at };
    return Object.freeze(isLarge ? referring(open, `${event.version}/waits/${index}`, "payload", "schema") : open);
  });
  // code that rests waits for nothing itself: its steps do
  path.waits = waits.length > 0 ? Object.freeze(waits) : undefined;
  if (event.starts) enqueueStart(scope.root, event.starts, event.waits[0]!.id);
  if (event.signal) enqueueSignal(scope.root, event.signal, event.waits[0]!.id);
  if (event.schemas) holdSchemas(scope.root, event.schemas);
  takeKept(scope.root, path, event.at);
  return true;
}

function holdSchemas(root: Draft, schemas: NonNullable<SuspendedEvent["schemas"]>): void {
  for (const [id, schema] of Object.entries(schemas))
    if (root.schemas && Object.hasOwn(root.schemas, id)) subtractSize(root, sizeOfJson(schema as Json));
  root.schemas = Object.freeze({ ...schemas, ...root.schemas });
}

export function applyAnswerRefused(scope: ScopeDraft, event: AnswerRefusedEvent): boolean {
  const reopens = pathWith(scope, event.pathId)?.resumed?.reopens;
  const path = reopens ? countAttempt(scope, event) : null;
  if (!reopens || !path) return false;
  reopen(scope, path, reopens, event);
  // a timer that became due in the meantime comes before a signal from the inbox
  if ((earliestTimer([path]) ?? Number.POSITIVE_INFINITY) > event.at) takeKept(scope.root, path, event.at);
  return true;
}

export function applySpawned(scope: ScopeDraft, event: SpawnedEvent): boolean {
  const path = countAttempt(scope, event);
  if (path) spawn(scope, path, event);
  return path !== null;
}
