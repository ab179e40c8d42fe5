import type { Boundary, PatternPart } from "./pattern-syntax.ts";

/** What the repetitions of a pattern may be written out to. */
const maxSteps = 5_000;

/** One step of a program. */
export type PatternStep =
  | { readonly kind: "letter"; readonly fits: (codePoint: number) => boolean }
  | { readonly kind: "edge"; readonly edge: Boundary }
  | { readonly kind: "look"; readonly index: number; readonly isNegated: boolean }
  /** Goes on at each of these; the first is to be preferred. */
  | { readonly kind: "jump"; readonly to: number[] }
  /** Notes where a group begins or ends. */
  | { readonly kind: "save"; readonly slot: number }
  /** Forgets what the groups between two slots have captured: a repetition begins anew. */
  | { readonly kind: "forget"; readonly from: number; readonly to: number }
  | { readonly kind: "match" };

/** A part that looks ahead or back: it is run over the whole text beforehand, against the direction in which it looks. */
export interface Look {
  readonly program: readonly PatternStep[];
  readonly isBackward: boolean;
}

/** A program, and those of its parts that look around; inner ones come first, because outer ones ask for them. */
export interface PatternProgram {
  readonly program: readonly PatternStep[];
  readonly looks: readonly Look[];
}

/** Why a pattern is too large; undefined if it is not. */
export function tooLarge(part: PatternPart): string | undefined {
  const size = sizeOf(part);
  return size > maxSteps ? `repeats so much that it takes ${size} steps; at most ${maxSteps} are allowed` : undefined;
}

/** Steps that a part is written out to. */
export function sizeOf(part: PatternPart): number {
  switch (part.kind) {
    case "letter":
    case "edge":
      return 1;
    case "look":
      return 1 + sizeOf(part.part);
    case "group":
      return sizeOf(part.part);
    case "repeat": {
      const size = sizeOf(part.part);
      return part.min * size + (Number.isFinite(part.max) ? (part.max - part.min) * (size + 1) : size + 2);
    }
    case "choice":
      return 1 + part.parts.reduce((sum, one) => sum + sizeOf(one) + 1, 0);
    case "sequence":
      return part.parts.reduce((sum, one) => sum + sizeOf(one), 0);
  }
}

/** Writes a pattern out. @param captures whether its groups note where they begin and end */
export function writeProgram(part: PatternPart, captures: boolean): PatternProgram {
  const looks: Look[] = [];
  return { program: programOf({ steps: [], isBackward: false, looks, captures }, part), looks };
}

interface Writer {
  readonly steps: PatternStep[];
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

function leaveAt({ isLazy }: Repeat, to: number[], end: number): void {
  if (isLazy) to.unshift(end);
  else to.push(end);
}

/** One round of a repetition: what an earlier one has captured is forgotten, as in JavaScript. */
function writeRound(writer: Writer, { part }: Repeat): void {
  const [first, last] = groupsOf(part);
  if (writer.captures && first <= last) writer.steps.push({ kind: "forget", from: 2 * first, to: 2 * last + 1 });
  write(writer, part);
}

/** The first and the last index of the groups in a part. */
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

/** Whether an edge lies before the letter at `at`. */
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

/** The letters of a text, as code points. */
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
