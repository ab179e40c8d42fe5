import { type Boundary, type PatternPart, parsePattern } from "./pattern-syntax.ts";

/** Takes units of work; throws when there is nothing left. */
export type Spend = (units: number) => void;

/** A regular expression that is matched in time that grows with the text alone (Thompson's construction). */
export interface Pattern {
  /** Steps of its program: each letter of a text costs at most so many. */
  readonly size: number;
  /** Whether it matches somewhere in the text. */
  matches(text: string, spend: Spend): boolean;
}

/** A pattern made ready, or why it cannot be used. */
export type CompiledPattern = { readonly pattern: Pattern; readonly mistake?: undefined } | { readonly mistake: string };

/** What the repetitions of a pattern may be written out to. */
const maxSteps = 5_000;

/** Makes a regular expression ready. */
export function compilePattern(source: string): CompiledPattern {
  const parsed = parsePattern(source);
  if ("mistake" in parsed) return parsed;
  const looks: Look[] = [];
  const size = sizeOf(parsed.part);
  if (size > maxSteps) return { mistake: `repeats so much that it takes ${size} steps; at most ${maxSteps} are allowed` };
  const program = programOf(parsed.part, false, looks);
  return {
    pattern: {
      size: size + 1,
      matches(text, spend) {
        const letters = lettersOf(text);
        // what it takes to make everything ready
        spend(20 + (program.length >> 3) + (letters.length >> 2));
        const found: Uint8Array[] = [];
        // inner ones come first, because outer ones ask for them
        for (const look of looks) found.push(run(look.program, { letters, looks: found, isBackward: look.isBackward, spend }));
        return run(program, { letters, looks: found, isBackward: false, spend }, true).length > 0;
      },
    },
  };
}

/** A part that looks ahead or back: it is run over the whole text beforehand, against the direction in which it looks. */
interface Look {
  readonly program: readonly Step[];
  readonly isBackward: boolean;
}

type Step =
  | { readonly kind: "letter"; readonly fits: (codePoint: number) => boolean }
  | { readonly kind: "edge"; readonly edge: Boundary }
  | { readonly kind: "look"; readonly index: number; readonly isNegated: boolean }
  | { readonly kind: "jump"; readonly to: number[] }
  | { readonly kind: "match" };

/** Steps that a part is written out to. */
function sizeOf(part: PatternPart): number {
  switch (part.kind) {
    case "letter":
    case "edge":
      return 1;
    case "look":
      return 1 + sizeOf(part.part);
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

function programOf(part: PatternPart, isBackward: boolean, looks: Look[]): Step[] {
  const steps: Step[] = [];
  write(part, steps, isBackward, looks);
  steps.push({ kind: "match" });
  return steps;
}

function write(part: PatternPart, steps: Step[], isBackward: boolean, looks: Look[]): void {
  switch (part.kind) {
    case "letter":
    case "edge":
      steps.push(part);
      return;
    case "look": {
      const program = programOf(part.part, part.isAhead, looks);
      looks.push({ program, isBackward: part.isAhead });
      steps.push({ kind: "look", index: looks.length - 1, isNegated: part.isNegated });
      return;
    }
    case "sequence":
      for (const one of isBackward ? part.parts.toReversed() : part.parts) write(one, steps, isBackward, looks);
      return;
    case "choice":
      writeChoice(part.parts, steps, isBackward, looks);
      return;
    case "repeat":
      writeRepeat(part, steps, isBackward, looks);
  }
}

function writeChoice(parts: readonly PatternPart[], steps: Step[], isBackward: boolean, looks: Look[]): void {
  const begins: number[] = [];
  const ends: number[][] = [];
  steps.push({ kind: "jump", to: begins });
  for (const one of parts) {
    begins.push(steps.length);
    write(one, steps, isBackward, looks);
    const end: number[] = [];
    ends.push(end);
    steps.push({ kind: "jump", to: end });
  }
  for (const end of ends) end.push(steps.length);
}

function writeRepeat({ part, min, max }: PatternPart & { kind: "repeat" }, steps: Step[], isBackward: boolean, looks: Look[]): void {
  for (let i = 0; i < min; i++) write(part, steps, isBackward, looks);
  if (!Number.isFinite(max)) {
    const begin = steps.length;
    const to = [begin + 1];
    steps.push({ kind: "jump", to });
    write(part, steps, isBackward, looks);
    steps.push({ kind: "jump", to: [begin] });
    to.push(steps.length);
    return;
  }
  const skips: number[][] = [];
  for (let i = min; i < max; i++) {
    const to = [steps.length + 1];
    skips.push(to);
    steps.push({ kind: "jump", to });
    write(part, steps, isBackward, looks);
  }
  for (const skip of skips) skip.push(steps.length);
}

interface Reading {
  readonly letters: Uint32Array;
  /** For each part that looks around: at which places it holds. */
  readonly looks: readonly Uint8Array[];
  readonly isBackward: boolean;
  readonly spend: Spend;
}

const nowhere = new Uint8Array(0);
const somewhere = new Uint8Array(1);

/**
 * At which places of a text a program has come to its end, wherever it began. With `isOnce` only whether there is such a
 * place: then what is given is empty or not.
 */
function run(program: readonly Step[], reading: Reading, isOnce = false): Uint8Array {
  const { letters, isBackward, spend } = reading;
  const { length } = letters;
  const holds = isOnce ? nowhere : new Uint8Array(length + 1);
  let current = new StepSet(program.length);
  let next = new StepSet(program.length);
  for (let i = 0; i <= length; i++) {
    const place = isBackward ? length - i : i;
    follow(program, 0, place, current, reading);
    spend(current.size);
    if (current.hasMatch) {
      if (isOnce) return somewhere;
      holds[place] = 1;
    }
    if (i === length) break;
    const letter = letters[isBackward ? place - 1 : place]!;
    const after = isBackward ? place - 1 : place + 1;
    for (let k = 0; k < current.size; k++) {
      const index = current.at(k);
      const step = program[index]!;
      if (step.kind === "letter" && step.fits(letter)) follow(program, index + 1, after, next, reading);
    }
    current.clear();
    [current, next] = [next, current];
  }
  return holds;
}

/** Adds a step, and all that follow from it without a letter. */
function follow(program: readonly Step[], first: number, place: number, set: StepSet, reading: Reading): void {
  const open = [first];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (!set.add(index)) continue;
    const step = program[index]!;
    if (step.kind === "jump") for (let i = step.to.length - 1; i >= 0; i--) open.push(step.to[i]!);
    else if (step.kind === "edge") {
      if (isEdge(step.edge, reading.letters, place)) open.push(index + 1);
    } else if (step.kind === "look") {
      if ((reading.looks[step.index]![place] === 1) !== step.isNegated) open.push(index + 1);
    } else if (step.kind === "match") set.hasMatch = true;
  }
}

/** Steps that a program is at, each once. */
class StepSet {
  readonly #steps: Uint32Array;
  /** Where a step lies in `#steps`; true only if it is that step that lies there. */
  readonly #places: Uint32Array;
  size = 0;
  hasMatch = false;

  constructor(length: number) {
    this.#steps = new Uint32Array(length);
    this.#places = new Uint32Array(length);
  }

  at(index: number): number {
    return this.#steps[index]!;
  }

  add(step: number): boolean {
    const place = this.#places[step]!;
    if (place < this.size && this.#steps[place] === step) return false;
    this.#places[step] = this.size;
    this.#steps[this.size++] = step;
    return true;
  }

  clear(): void {
    this.size = 0;
    this.hasMatch = false;
  }
}

function isEdge(edge: Boundary, letters: Uint32Array, place: number): boolean {
  if (edge === "begin") return place === 0;
  if (edge === "end") return place === letters.length;
  const isWord = isOfWord(letters[place - 1]) !== isOfWord(letters[place]);
  return isWord === (edge === "word");
}

function isOfWord(letter: number | undefined): boolean {
  if (letter === undefined) return false;
  return (letter >= 48 && letter <= 57) || (letter >= 65 && letter <= 90) || letter === 95 || (letter >= 97 && letter <= 122);
}

function lettersOf(text: string): Uint32Array {
  const letters = new Uint32Array(text.length);
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text.codePointAt(i)!;
    if (letter > 0xffff) i++;
    letters[count++] = letter;
  }
  return letters.subarray(0, count);
}
