import type { EpochMs } from "../values/json.ts";
import { iso } from "./explain-words.ts";

/** A part of a sentence that is a name, and not words of the engine or a text that it quotes. */
export interface SentenceMark {
  /** `place`: an address, such as `map[3]/approve`. `handle`: the handle of an edge, with its quotation marks. `time`: a time in ISO 8601. */
  readonly kind: "place" | "person" | "handle" | "time";
  /** The index of its first character in the sentence. */
  readonly from: number;
  /** The index after its last character. */
  readonly to: number;
}

/** A sentence, and what stands where in it. */
export interface MarkedSentence {
  readonly sentence: string;
  readonly marks: readonly SentenceMark[];
}

/** Signs that no text has: Unicode keeps them for such purposes. While a sentence is put together, its marks are in it. */
const kinds: Readonly<Record<string, SentenceMark["kind"]>> = {
  "\ufdd0": "place",
  "\ufdd1": "person",
  "\ufdd2": "handle",
  "\ufdd3": "time",
};
const close = "\ufdd4";

/** Returns the address of a place with its mark. */
export function addressMark(address: string): string {
  return marked("\ufdd0", address);
}

/** Returns the name of a person with its mark. */
export function responderMark(name: string): string {
  return marked("\ufdd1", name);
}

/** Returns a handle in quotation marks, with its mark. */
export function handleMark(handle: string): string {
  return marked("\ufdd2", `"${handle}"`);
}

/** Returns a time with its mark. */
export function timeMark(at: EpochMs): string {
  return marked("\ufdd3", iso(at));
}

/** Takes the marks out of a sentence. */
export function unmarked(text: string): MarkedSentence {
  const marks: SentenceMark[] = [];
  let sentence = "";
  let begin = 0;
  for (const { 0: whole, 1: sign, 2: name, index } of text.matchAll(/([\ufdd0-\ufdd3])([^\ufdd0-\ufdd4]*)\ufdd4/g)) {
    sentence += quoted(text.slice(begin, index));
    marks.push({ kind: kinds[sign!]!, from: sentence.length, to: sentence.length + name!.length });
    sentence += name!;
    begin = index + whole.length;
  }
  return { sentence: sentence + quoted(text.slice(begin)), marks };
}

/** Returns a text without the signs of marks: whatever is quoted cannot look like a name. */
export function quoted(text: string): string {
  return text.replace(/[\ufdd0-\ufdd4]/g, "");
}

function marked(sign: string, text: string): string {
  return `${sign}${quoted(text)}${close}`;
}
