import { cut } from "../explain/explain-words.ts";

/** What an event did, for a sign beside its sentence. */
export type EventSign =
  | "completed"
  | "failed"
  | "undone"
  /** A step waits for an answer, a signal or another execution. */
  | "waits"
  /** A step waits for a time. */
  | "sleeps"
  /** A wait is over, or a signal came. */
  | "moves"
  /** A signal is kept for a wait that is not open yet. */
  | "kept"
  /** Children begin. */
  | "spawned"
  | "retried"
  | "cancelled"
  | "added"
  | "closed"
  | "changed"
  | "continued"
  | "restarted"
  /** A join has fired. */
  | "joined"
  /** Paths ended early. */
  | "ended";

/** A part of a sentence about an event. */
export interface EventPart {
  /**
   * `words`: what happened. `took`: how long it took. `next`: when it goes on by itself. `handle`: by which handles the path left.
   * `message`: what an error says, or the reason of a cancellation.
   */
  readonly kind: "words" | "took" | "next" | "handle" | "message";
  readonly text: string;
  /** Data of the execution that belongs to the words, such as a payload: JSON on one line, or its beginning. */
  readonly value?: string;
}

/** What happened at one place, as a sentence in parts. Its subject is the place. */
export interface EventSentence {
  readonly sign: EventSign;
  /** An address, such as `map[3]/approve`; or what else the event is about: `signal`, `metadata`, `deadline`, `restarted`, `cancelled`. */
  readonly place: string;
  readonly parts: readonly EventPart[];
}

/** Makes a sentence of parts; those without text are left out. */
export function sentenceOf(sign: EventSign, place: string, ...parts: readonly (EventPart | string | null)[]): EventSentence {
  const told = parts.map((part) => (typeof part === "string" ? words(part) : part));
  return { sign, place, parts: told.filter((part) => part !== null && part.text !== "") as EventPart[] };
}

/** The longest data in a sentence, in characters. */
const maxValueLength = 200;

/** A part that says what happened. @param value data that belongs to it; undefined: none */
export function words(text: string, value?: unknown, maxLength: number = maxValueLength): EventPart {
  return { kind: "words", text, ...(value !== undefined && { value: jsonText(value, maxLength) }) };
}

/** A part with the message of an error, or a reason. */
export function messagePart(text: string | undefined): EventPart {
  return { kind: "message", text: cut(text ?? "", maxValueLength) };
}

/** Returns a JSON value on one line, cut to a length. */
export function jsonText(value: unknown, maxLength: number): string {
  return cut(JSON.stringify(value), maxLength);
}
