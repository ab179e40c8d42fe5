import { namesText } from "../explain/explain-words.ts";
import { parentKey } from "../snapshot/address.ts";
import type { EndedPath, Event, PlacedResult } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { type EventSentence, messagePart, sentenceOf } from "./sentence-parts.ts";
import type { Trail } from "./trail.ts";

/**
 * Returns sentences about what an event has caused at other places: maps that are complete, joins that failed or fired, paths that ended.
 *
 * @param after the snapshot after the event; null if it is unknown: then joins that fired are not told
 */
export function consequenceSentences(event: Event, after: Snapshot | null, trail: Trail): EventSentence[] {
  const { results = [], ended = [] } = event.consequences ?? {};
  // the sentence about a `cancelled` event already names the paths that the cancellation names
  const isNamed = (scope: string | undefined, pathId: string): boolean =>
    event.type === "cancelled" && event.scope === scope && event.pathIds?.includes(pathId) === true;
  const others = ended.filter(({ scope, pathId }) => !isNamed(scope, pathId));
  const given = results.filter(({ scope, result }) => !isNamed(scope, result.pathId));
  return [
    ...given.map((result) => resultSentence(result, trail)),
    ...firedSentences(event, after, trail),
    ...endedSentence(others, "late", "too late: its join has fired without it", trail),
    ...endedSentence(others, "cancelled", "ended by this", trail),
  ];
}

/** Returns a sentence for each join that fired in this event: a path with several inputs stands there since this version. */
function firedSentences(event: Event, after: Snapshot | null, trail: Trail): EventSentence[] {
  if (!after) return [];
  const sentences: EventSentence[] = [];
  // a join can fire in the scope of the event, and in the scopes around it
  for (let scope = (("scope" in event) && event.scope) || ""; ; scope = parentKey(scope)) {
    const paths = scope === "" ? after.activePaths : (after.childStates?.[scope]?.activePaths ?? []);
    for (const { nodeId, inputs = [], since } of paths) {
      if (inputs.length < 2 || since !== event.version) continue;
      const names = namesText(inputs.map((input) => input.nodeId));
      sentences.push(sentenceOf("joined", trail.address(scope, nodeId), `merges ${inputs.length} branches: ${names}`));
    }
    if (scope === "") return sentences;
  }
}

function resultSentence({ scope, nodeId, result: { output, error } }: PlacedResult, trail: Trail): EventSentence {
  const place = trail.address(scope, nodeId);
  if (error !== undefined) return sentenceOf("failed", place, messagePart(error));
  const count = Array.isArray(output) ? output.length : null;
  return sentenceOf("completed", place, count === null ? "" : `goes on with ${count === 1 ? "1 item" : `${count} items`}`);
}

function endedSentence(ended: readonly EndedPath[], reason: EndedPath["reason"], text: string, trail: Trail): EventSentence[] {
  const names = ended.filter((one) => one.reason === reason).map(({ scope, nodeId }) => trail.address(scope, nodeId));
  return names.length === 0 ? [] : [sentenceOf("ended", namesText(names), text)];
}
