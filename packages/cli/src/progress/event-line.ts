import type { Event, Snapshot } from "stepfold";
import { type EventPart, type EventSentence, type EventSign, eventSentences, type Trail } from "stepfold/core";
import { printable } from "../text/printable.ts";
import { handleText, type LineStyle, stepLine } from "./line.ts";

/** What `eventLines` needs besides the event. */
export interface EventLineContext {
  /** Knows at which node each path is, from the events that it has seen. */
  readonly trail: Trail;
  readonly style: LineStyle;
  /** The snapshot after the event; null if only the events are known. */
  readonly after: Snapshot | null;
}

/** The sign before a line, and its colour. */
const signs: Readonly<Record<EventSign, readonly [sign: string, meaning: "good" | "bad" | "wait" | "quiet"]>> = {
  completed: ["✔", "good"],
  failed: ["✖", "bad"],
  undone: ["↩", "good"],
  waits: ["⏸", "wait"],
  sleeps: ["⧗", "wait"],
  moves: ["▶", "quiet"],
  kept: ["▷", "wait"],
  spawned: ["⑂", "quiet"],
  retried: ["↻", "wait"],
  cancelled: ["■", "bad"],
  added: ["+", "quiet"],
  closed: ["■", "quiet"],
  changed: ["=", "quiet"],
  continued: ["⟳", "good"],
  restarted: ["⟳", "wait"],
  joined: ["⋈", "quiet"],
  ended: ["·", "quiet"],
};
/** The longest part of a line, in characters. */
const maxPartLength = 600;

/**
 * Returns the lines for an event, as text with colours: first what happened, then its consequences. The trail takes in the event, so this
 * must be called once for each event, in order.
 */
export function eventLines(event: Event, { trail, style, after }: EventLineContext): string[] {
  return eventSentences(event, trail, after).map((sentence) => lineOf(sentence, style));
}

function lineOf({ sign, place, parts }: EventSentence, style: LineStyle): string {
  const [glyph, meaning] = signs[sign];
  return stepLine(
    glyph,
    meaning,
    place,
    parts.map((part) => partText(part, style)),
    style,
  );
}

/** Returns a part of a sentence as text with colours. */
export function partText({ kind, text, value }: EventPart, { paint }: LineStyle): string {
  const told = printable(value === undefined ? text : `${text}: ${value}`, maxPartLength);
  if (kind === "handle") return handleText(told);
  return kind === "took" ? paint("quiet", told) : kind === "next" ? paint("wait", told) : told;
}
