import type { Event } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { commandSentence } from "./command-sentence.ts";
import { consequenceSentences } from "./consequence-sentence.ts";
import type { EventSentence } from "./sentence-parts.ts";
import { stepSentence } from "./step-sentence.ts";
import type { Trail } from "./trail.ts";

/**
 * Returns the sentences about an event: what happened, and then what it has caused at other places. Events that are only records get none:
 * `started`, `begun`, `delivered`, `parked` and `unparked`.
 *
 * ```ts
 * const places = trail();
 * for (const event of events)
 *   for (const { place, parts } of eventSentences(event, places, null)) console.log(place, parts.map(({ text }) => text).join(", "));
 * // charge attempt 1, 12 ms, Request failed with status 503, retry in 0.4 s
 * ```
 *
 * Who may see how an execution stands, but none of its data, gets the parts without `value`, and no part of the kind `message`.
 *
 * @param trail knows the addresses. It takes in the event here, so this must be called once for each event, in order
 * @param after the snapshot after the event; null if only the events are known: then joins that fired are not told
 */
export function eventSentences(event: Event, trail: Trail, after: Snapshot | null): readonly EventSentence[] {
  // the trail must see every event, before that event is told
  trail.see(event);
  const sentence = stepSentence(event, trail) ?? commandSentence(event, trail, after);
  return [...(sentence === null ? [] : [sentence]), ...consequenceSentences(event, after, trail)];
}
