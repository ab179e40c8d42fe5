import { namesText } from "../explain/explain-words.ts";
import type { CancelledEvent, Event, RestartedEvent, SignalledEvent } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { countdownText } from "./duration-text.ts";
import { type EventSentence, messagePart, sentenceOf, words } from "./sentence-parts.ts";
import type { Trail } from "./trail.ts";

/** Returns the sentence about an event that came from outside the steps; null for other events. */
export function commandSentence(event: Event, trail: Trail, after: Snapshot | null): EventSentence | null {
  switch (event.type) {
    case "restarted":
      return sentenceOf("restarted", "restarted", restartedText(event));
    case "signalled":
      return signalledSentence(event, trail, after);
    case "expired":
      return sentenceOf("failed", event.scope === undefined ? "deadline" : trail.child(event.scope), "did not end in time");
    case "cancelled":
      return cancelledSentence(event, trail);
    case "itemAdded":
      return sentenceOf("added", trail.at(event.scope, event.pathId), words("gets an item", event.item, 100));
    case "metadataSet":
      return sentenceOf("changed", "metadata", words("is now", event.metadata, 100));
    case "mapClosed": {
      const text = event.completes ? "gets no more items; items in progress are cancelled" : "gets no more items";
      return sentenceOf("closed", trail.at(event.scope, event.pathId), text);
    }
    default:
      return null;
  }
}

function restartedText({ state: { activePaths } }: RestartedEvent): string {
  return `goes on at ${namesText(activePaths.map(({ nodeId }) => nodeId))}`;
}

function signalledSentence(event: SignalledEvent, trail: Trail, after: Snapshot | null): EventSentence {
  const { name, key, payload, expiresAt, at } = event;
  const signal = `"${name}"${key === undefined ? "" : ` (key ${key})`}`;
  const taker = trail.taker(event, after);
  // null: the trail cannot tell who took the signal, or whether it is kept
  if (taker === null) return sentenceOf("moves", "signal", words(signal, payload));
  if (taker !== "kept") return sentenceOf("moves", taker, words(`takes the signal ${signal}`, payload));
  return sentenceOf("kept", "signal", words(signal, payload), `nobody waits for it yet; it is kept for ${countdownText(expiresAt - at)}`);
}

function cancelledSentence({ scope, pathIds, reason, consequences }: CancelledEvent, trail: Trail): EventSentence {
  const why = messagePart(reason);
  // without path ids everything in the scope was cancelled; the whole execution has no address, so the word "cancelled" takes its place
  if (!pathIds)
    return scope === undefined ? sentenceOf("cancelled", "cancelled", why) : sentenceOf("cancelled", trail.child(scope), "cancelled", why);
  // if the event does not name the nodes of the paths that it ended, the trail knows them
  const ended = (consequences?.ended ?? []).filter((one) => one.scope === scope && pathIds.includes(one.pathId));
  const names = ended.length > 0 ? ended.map(({ nodeId }) => trail.address(scope, nodeId)) : pathIds.map((id) => trail.at(scope, id));
  return sentenceOf("cancelled", namesText(names), "cancelled", why);
}
