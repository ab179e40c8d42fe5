import type { EpochMs, MarkedSentence, PlaceInfo, SentenceMark } from "stepfold/core";

/** A part of a sentence as it is shown. */
export type SentencePart =
  | { readonly kind: "text" | "code" | "name"; readonly text: string }
  | { readonly kind: "time"; readonly text: string; readonly at: EpochMs };

/**
 * Splits a sentence of `explain` at its marks: times, which are to be shown in the reader's own time zone, addresses and handles, and people. What the
 * sentence quotes is text, whatever it looks like.
 */
export function sentenceParts({ sentence, marks }: MarkedSentence): SentencePart[] {
  const parts: SentencePart[] = [];
  let begin = 0;
  const text = (to: number): void => {
    if (to > begin) parts.push({ kind: "text", text: sentence.slice(begin, to) });
    begin = to;
  };
  for (const { kind, from, to } of marks) {
    // a server of another version may mark otherwise
    if (from < begin || to <= from || to > sentence.length) continue;
    text(from);
    parts.push(partOf(kind, sentence.slice(from, to)));
    begin = to;
  }
  text(sentence.length);
  return parts;
}

function partOf(kind: SentenceMark["kind"], text: string): SentencePart {
  if (kind === "person") return { kind: "name", text };
  if (kind === "handle") return { kind: "code", text: text.replace(/^"(.*)"$/s, "$1") };
  if (kind === "place") return { kind: "code", text };
  const at = Date.parse(text);
  return Number.isNaN(at) ? { kind: "text", text } : { kind: "time", text, at };
}

/** The sentence about one place, with its address. */
export function addressedSentence({ address, sentence, marks }: Pick<PlaceInfo, "address" | "sentence" | "marks">): MarkedSentence {
  const offset = address.length + 1;
  const moved = (marks ?? []).map(({ kind, from, to }): SentenceMark => ({ kind, from: from + offset, to: to + offset }));
  return { sentence: `${address} ${sentence}.`, marks: [{ kind: "place", from: 0, to: address.length }, ...moved] };
}

const runsNow: readonly (readonly [told: string, shown: string])[] = [
  [" is ready to run", " runs"],
  [" is ready to go on", " goes on"],
];

/**
 * Returns the sentence about an execution that a process holds: what the engine calls ready is performed now. What waits for its rate limit is not.
 */
export function runningSentence({ sentence, marks }: MarkedSentence): MarkedSentence {
  let text = sentence;
  let moved: readonly SentenceMark[] = marks;
  for (const [index, { kind }] of marks.entries()) {
    const { to } = moved[index]!;
    const found = kind === "place" ? runsNow.find(([told]) => text.startsWith(told, to)) : undefined;
    if (!found || text.startsWith(", as soon as", to + found[0].length)) continue;
    const [told, shown] = found;
    const shift = shown.length - told.length;
    text = text.slice(0, to) + shown + text.slice(to + told.length);
    moved = moved.map((mark) => (mark.from < to ? mark : { ...mark, from: mark.from + shift, to: mark.to + shift }));
  }
  return { sentence: text, marks: moved };
}

const sinceThen = /^Since (\S+Z) /;

/**
 * Marks the time since which no living worker can run an execution. The rest of the sentence quotes a reason, which is text, whatever it looks
 * like.
 */
export function noWorkerSentence(sentence: string): MarkedSentence {
  const [, time] = sinceThen.exec(sentence) ?? [];
  return { sentence, marks: time === undefined ? [] : [{ kind: "time", from: "Since ".length, to: "Since ".length + time.length }] };
}

const isoTime = /\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/g;

/** Marks the times of a sentence that quotes nothing. */
export function withTimes(sentence: string): MarkedSentence {
  const marks = [...sentence.matchAll(isoTime)].map(
    ({ 0: text, index }) => ({ kind: "time", from: index, to: index + text.length }) as const,
  );
  return { sentence, marks };
}
