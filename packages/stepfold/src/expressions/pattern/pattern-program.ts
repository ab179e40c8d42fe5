import type { Boundary, PatternPart } from "./pattern-syntax.ts";

/** The largest number of steps of one pattern. Repetitions such as `{100}` are written out, so they need many steps. */
const maxSteps = 5_000;

/** One step of the program that a pattern is compiled to. */
export type PatternStep =
  | { readonly kind: "letter"; readonly fits: (codePoint: number) => boolean }
  | { readonly kind: "edge"; readonly edge: Boundary }
  | { readonly kind: "look"; readonly index: number; readonly isNegated: boolean }
  /** Continues at each of these steps; the first one is preferred. */
  | { readonly kind: "jump"; readonly to: number[] }
  /** Saves the place where a group begins or ends. */
  | { readonly kind: "save"; readonly slot: number }
  /** Clears the saved places from one slot to another, when a new round of a repetition begins. */
  | { readonly kind: "forget"; readonly from: number; readonly to: number }
  | { readonly kind: "match" };

/**
 * A look-ahead or look-behind. It runs over the whole text before the search
 * begins, in the direction opposite to the one in which it looks.
 */
export interface Look {
  readonly program: readonly PatternStep[];
  readonly isBackward: boolean;
}

/**
 * The program of a pattern, and the programs of its look-arounds. Inner
 * look-arounds come first, because the outer ones need their results.
 */
export interface PatternProgram {
  readonly program: readonly PatternStep[];
  readonly looks: readonly Look[];
}

/**
 * Why a pattern is too large; undefined if it is not.
 *
 * @param captures whether the program will save what groups capture
 */
export function tooLarge(part: PatternPart, captures: boolean): string | undefined {
  const size = sizeOf(part, captures);
  return size > maxSteps ? `repeats so much that it takes ${size} steps; at most ${maxSteps} are allowed` : undefined;
}

/**
 * Returns how many steps a part takes at most, with those of its look-arounds. A part that takes none, such as `(?:)` or `a{0}`, counts as
 * one, because it costs time to write it, also in each round of a repetition.
 */
export function sizeOf(part: PatternPart, captures: boolean): number {
  switch (part.kind) {
    case "letter":
    case "edge":
      return 1;
    case "look":
      return 1 + sizeOf(part.part, false);
    case "group":
      return (captures ? 2 : 0) + sizeOf(part.part, captures);
    case "repeat": {
      const size = sizeOf(part.part, captures);
      const rounds = part.min * size + (Number.isFinite(part.max) ? (part.max - part.min) * (size + 1) : size + 2);
      // never infinite, because no round of something infinite would be NaN
      return Math.min(Math.max(1, rounds), Number.MAX_SAFE_INTEGER);
    }
    case "choice":
      return 1 + part.parts.reduce((sum, one) => sum + sizeOf(one, captures) + 1, 0);
    case "sequence":
      return Math.max(
        1,
        part.parts.reduce((sum, one) => sum + sizeOf(one, captures), 0),
      );
  }
}

/** Writes the program of a pattern. @param captures whether the program saves the places where groups begin and end */
export function writeProgram(part: PatternPart, captures: boolean): PatternProgram {
  const looks: Look[] = [];
  return { program: programOf({ steps: [], isBackward: false, looks, captures }, part), looks };
}

interface Writer {
  readonly steps: PatternStep[];
  /** True if the program reads the text from its end to its beginning. */
  readonly isBackward: boolean;
  readonly looks: Look[];
  readonly captures: boolean;
}

function programOf(writer: Writer, part: PatternPart): PatternStep[] {
  write(writer, part);
  writer.steps.push({ kind: "match" });
  return writer.steps;
}

function write(writer: Writer, part: PatternPart): void {
  const { steps, isBackward, looks } = writer;
  switch (part.kind) {
    case "letter":
    case "edge":
      steps.push(part);
      return;
    case "look": {
      const program = programOf({ steps: [], isBackward: part.isAhead, looks, captures: false }, part.part);
      looks.push({ program, isBackward: part.isAhead });
      steps.push({ kind: "look", index: looks.length - 1, isNegated: part.isNegated });
      return;
    }
    case "group":
      if (writer.captures) steps.push({ kind: "save", slot: 2 * part.index });
      write(writer, part.part);
      if (writer.captures) steps.push({ kind: "save", slot: 2 * part.index + 1 });
      return;
    case "sequence":
      for (const one of isBackward ? part.parts.toReversed() : part.parts) write(writer, one);
      return;
    case "choice":
      writeChoice(writer, part.parts);
      return;
    case "repeat":
      writeRepeat(writer, part);
  }
}

function writeChoice(writer: Writer, parts: readonly PatternPart[]): void {
  const { steps } = writer;
  const begins: number[] = [];
  const ends: number[][] = [];
  steps.push({ kind: "jump", to: begins });
  for (const one of parts) {
    begins.push(steps.length);
    write(writer, one);
    const end: number[] = [];
    ends.push(end);
    steps.push({ kind: "jump", to: end });
  }
  for (const end of ends) end.push(steps.length);
}

type Repeat = PatternPart & { readonly kind: "repeat" };

function writeRepeat(writer: Writer, repeat: Repeat): void {
  const { steps } = writer;
  const { min, max } = repeat;
  for (let i = 0; i < min; i++) writeRound(writer, repeat);
  if (!Number.isFinite(max)) {
    const begin = steps.length;
    const to = [begin + 1];
    steps.push({ kind: "jump", to });
    writeRound(writer, repeat);
    steps.push({ kind: "jump", to: [begin] });
    leaveAt(repeat, to, steps.length);
    return;
  }
  const skips: number[][] = [];
  for (let i = min; i < max; i++) {
    const to = [steps.length + 1];
    skips.push(to);
    steps.push({ kind: "jump", to });
    writeRound(writer, repeat);
  }
  for (const skip of skips) leaveAt(repeat, skip, steps.length);
}

/** Adds the step after a repetition to a jump. It is the preferred one if the repetition is lazy. */
function leaveAt({ isLazy }: Repeat, to: number[], end: number): void {
  if (isLazy) to.unshift(end);
  else to.push(end);
}

/** Writes one round of a repetition. The round first clears what its groups captured in an earlier round, as in JavaScript. */
function writeRound(writer: Writer, { part }: Repeat): void {
  const [first, last] = groupsOf(part);
  if (writer.captures && first <= last) writer.steps.push({ kind: "forget", from: 2 * first, to: 2 * last + 1 });
  write(writer, part);
}

/** Returns the lowest and the highest index of the groups in a part; Infinity and 0 if it has no groups. */
function groupsOf(part: PatternPart): readonly [number, number] {
  if (part.kind === "letter" || part.kind === "edge") return [Number.POSITIVE_INFINITY, 0];
  const inner = "parts" in part ? part.parts : [part.part];
  const own = part.kind === "group" ? part.index : undefined;
  let [first, last] = [own ?? Number.POSITIVE_INFINITY, own ?? 0];
  for (const one of inner) {
    const [from, to] = groupsOf(one);
    first = Math.min(first, from);
    last = Math.max(last, to);
  }
  return [first, last];
}

/** True if there is such an edge before the letter at index `at`. */
export function isEdge(edge: Boundary, letters: Uint32Array, at: number): boolean {
  if (edge === "begin") return at === 0;
  if (edge === "end") return at === letters.length;
  if (edge === "lineBegin") return at === 0 || isLineEnd(letters[at - 1]!);
  if (edge === "lineEnd") return at === letters.length || isLineEnd(letters[at]!);
  const isWord = isOfWord(letters[at - 1]) !== isOfWord(letters[at]);
  return isWord === (edge === "word");
}

function isLineEnd(letter: number): boolean {
  return letter === 10 || letter === 13 || letter === 0x2028 || letter === 0x2029;
}

function isOfWord(letter: number | undefined): boolean {
  if (letter === undefined) return false;
  return (letter >= 48 && letter <= 57) || (letter >= 65 && letter <= 90) || letter === 95 || (letter >= 97 && letter <= 122);
}

/** Returns the letters of a text as code points. */
export function lettersOf(text: string): Uint32Array {
  const letters = new Uint32Array(text.length);
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text.codePointAt(i)!;
    if (letter > 0xffff) i++;
    letters[count++] = letter;
  }
  return letters.subarray(0, count);
}
