import { type Event, type EventSentence, eventSentences, type Trail, trail } from "stepfold/core";

/** A row of the list of events. */
export interface EventRow {
  readonly event: Event;
  /** The number of the sentence about the event: from 1 on it tells what the event has caused. */
  readonly index: number;
  readonly sentence: EventSentence;
}

/** The most consequences of one event that have rows. */
const maxSentences = 20;

/** The sentences about the events, one row for each. The events are taken in order, each once. */
export class EventList {
  readonly #rows: EventRow[] = [];
  #trail: Trail = trail();
  #taken = 0;

  /** Takes in the events that have come since the last call. */
  take(events: readonly Event[]): readonly EventRow[] {
    for (; this.#taken < events.length; this.#taken++) this.#add(events[this.#taken]!);
    return this.#rows;
  }

  #add(event: Event): void {
    const sentences = sentencesOf(event, this.#trail).slice(0, maxSentences);
    for (const [index, sentence] of sentences.entries()) this.#rows.push({ event, index, sentence });
  }
}

/** What the engine says about an event. Events that are only records get their name. */
function sentencesOf(event: Event, places: Trail): readonly EventSentence[] {
  let told: readonly EventSentence[] = [];
  try {
    told = eventSentences(event, places, null);
  } catch {
    // a history without its values lacks what some sentences need
  }
  return told.length > 0 ? told : [{ sign: "changed", place: subjectOf(event), parts: [{ kind: "words", text: recordText(event) }] }];
}

function subjectOf(event: Event): string {
  if ("nodeId" in event && event.nodeId !== undefined && event.type !== "started") return event.nodeId;
  return event.type;
}

function recordText(event: Event): string {
  switch (event.type) {
    case "started":
      return `${event.definition.id} begins at ${event.nodeId}${event.who === undefined ? "" : `, started by ${event.who}`}`;
    case "begun":
      return "is about to act";
    case "delivered":
      return event.ids.length === 1 ? "a message was delivered" : `${event.ids.length} messages were delivered`;
    case "parked":
      return `${event.code}: ${event.message}`;
    case "unparked":
      return "may go on";
    default:
      return event.type;
  }
}

/** Returns the index of the row of a version; -1: it has none. */
export function rowOfVersion(rows: readonly EventRow[], version: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]!.event.version < version) low = middle + 1;
    else high = middle;
  }
  return rows[low]?.event.version === version ? low : -1;
}

/** True if the text is in what a row shows. */
export function matches({ event, sentence }: EventRow, text: string): boolean {
  const wanted = text.toLowerCase();
  const told = [event.type, sentence.place, ...sentence.parts.flatMap((part) => [part.text, part.value ?? ""])];
  return told.some((part) => part.toLowerCase().includes(wanted));
}
