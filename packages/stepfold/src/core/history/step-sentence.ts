import { waitsOf } from "../explain/waits.ts";
import type { CompletedEvent, Event, FailedEvent, ResumedEvent, SpawnedEvent, SuspendedEvent, TimedOutEvent } from "../snapshot/event.ts";
import { isJsonObject } from "../values/json.ts";
import { countdownText, durationText } from "./duration-text.ts";
import { type EventPart, type EventSentence, messagePart, sentenceOf, words } from "./sentence-parts.ts";
import type { Trail } from "./trail.ts";
import { waitsPart } from "./wait-part.ts";

/** Returns the sentence about an event of a step; null for other events. */
export function stepSentence(event: Event, trail: Trail): EventSentence | null {
  switch (event.type) {
    case "completed":
      return completedSentence(event, nodeAddress(event, trail));
    case "continued":
      return sentenceOf(
        "continued",
        trail.address(undefined, event.nodeId),
        words(`ends its run; run ${event.run} begins`, event.input, 100),
      );
    case "failed":
      return failedSentence(event, nodeAddress(event, trail), leftBy(event, trail));
    case "suspended":
      return suspendedSentence(event, nodeAddress(event, trail));
    case "answerRefused": {
      const { who, issues } = event;
      const [first] = issues;
      const refused = `the answer${who === undefined ? "" : ` of ${who}`} is refused`;
      return sentenceOf(
        "failed",
        nodeAddress(event, trail),
        refused,
        messagePart(first && `${first.pointer || "/"} ${first.message}`),
        "waits again",
      );
    }
    case "spawned":
      return spawnedSentence(event, nodeAddress(event, trail));
    case "resumed":
      return sentenceOf("moves", trail.at(event.scope, event.pathId), resumedPart(event));
    case "timedOut": {
      const what = event.undoes ? "nobody answered in time; the step is not undone" : "nobody answered in time";
      return sentenceOf("failed", nodeAddress(event, trail), what, leftBy(event, trail));
    }
    case "retried":
      return sentenceOf("retried", trail.at(event.scope, event.pathId), "is retried now");
    default:
      return null;
  }
}

/**
 * Returns the address of the node of an event. A compensation is told at the step that it undoes. That step may have run in a child
 * (`undoes.scope`), although the path that undoes it belongs to a scope further out (`scope`).
 */
function nodeAddress({ scope, nodeId, undoes }: Pick<CompletedEvent, "scope" | "nodeId" | "undoes">, trail: Trail): string {
  return trail.address(undoes ? undoes.scope : scope, nodeId);
}

function completedSentence({ attempt, startedAt, at, handles, undoes }: CompletedEvent, place: string): EventSentence {
  const parts = [
    undoes ? "undone" : "",
    attempt > 1 ? `attempt ${attempt}` : "",
    tookPart(at - startedAt),
    handlePart(handles?.join(", ")),
  ];
  return sentenceOf(undoes ? "undone" : "completed", place, ...parts);
}

function failedSentence(event: FailedEvent, place: string, left: EventPart): EventSentence {
  const { attempt, startedAt, at, error, retryAt, undoes } = event;
  const next: EventPart = retryAt === null ? left : { kind: "next", text: `retry in ${countdownText(retryAt - at)}` };
  const parts = [undoes ? "to be undone" : "", `attempt ${attempt}`, tookPart(at - startedAt), messagePart(error.message), next];
  return sentenceOf("failed", place, ...parts);
}

function suspendedSentence({ nodeId, waits, schemas, at, undoes }: SuspendedEvent, place: string): EventSentence {
  if (waits.length === 0) return sentenceOf("waits", place, "rests until one of its steps goes on");
  const isTimer = waits.every(({ kind }) => kind === "timer");
  const told = waitsPart(waitsOf({ nodeId, waits }, place, schemas), at);
  return sentenceOf(isTimer ? "sleeps" : "waits", place, undoes ? "to be undone" : "", told);
}

function spawnedSentence({ children: { workflow, map } }: SpawnedEvent, place: string): EventSentence {
  if (!map) return sentenceOf("spawned", place, `runs ${workflow}`);
  const { items, concurrency, completeWhen, open } = map;
  const told = [
    `runs ${workflow} for ${items.length === 1 ? "1 item" : `${items.length} items`}`,
    items.length > concurrency ? `${concurrency} at once` : "",
    completeWhen === undefined ? "" : `until ${completeWhen} are done`,
    open ? "accepts more items" : "",
  ];
  return sentenceOf("spawned", place, told.filter(Boolean).join(", "));
}

function resumedPart({ by, who, payload }: ResumedEvent): EventPart {
  if (by === "timer") return words("its timer is due");
  if (by === "child") return words("the execution that it waited for has ended", payload ?? null);
  if (by === "delivery")
    return words(`its signal ${isJsonObject(payload) && payload.status === "completed" ? "was delivered" : "could not be delivered"}`);
  return words(`is answered${who === undefined ? "" : ` by ${who}`}`, payload);
}

/** Says who gets a failure: the handle by which the path leaves, or the code that has asked for the step. */
function leftBy({ scope, pathId, handle }: FailedEvent | TimedOutEvent, trail: Trail): EventPart {
  return handle !== undefined && trail.isAskedFor(scope, pathId) ? words("its code gets the error") : handlePart(handle);
}

function tookPart(ms: number): EventPart {
  return { kind: "took", text: durationText(ms) };
}

function handlePart(handle: string | undefined): EventPart {
  return { kind: "handle", text: handle ?? "" };
}
