import { isEdge, type Look, lettersOf, type PatternStep, sizeOf, tooLarge, writeProgram } from "./pattern-program.ts";
import { parsePattern, unicodeClassesIn } from "./pattern-syntax.ts";

/** Pays for units of work; throws if the budget is used up. */
export type Spend = (units: number) => void;

/** A regular expression whose matching time is linear in the length of the text (Thompson's construction). */
export interface Pattern {
  /**
   * The number of steps, with those of look-arounds: each letter of a text costs about that many units of work at most. A class of Unicode
   * counts as 100 more, because making its set takes that long.
   */
  readonly size: number;
  /** True if the pattern matches anywhere in the text. */
  matches(text: string, spend: Spend): boolean;
}

/** A compiled pattern, or why it cannot be used. */
export type CompiledPattern = { readonly pattern: Pattern; readonly mistake?: undefined } | { readonly mistake: string };

/** What making the set of a class of Unicode counts, in steps of a program. */
const stepsOfClass = 100;

/** Compiles a regular expression. */
export function compilePattern(source: string): CompiledPattern {
  const parsed = parsePattern(source);
  if ("mistake" in parsed) return parsed;
  const mistake = tooLarge(parsed.part, false);
  if (mistake !== undefined) return { mistake };
  const { program, looks } = writeProgram(parsed.part, false);
  return {
    pattern: {
      size: sizeOf(parsed.part, false) + 1 + stepsOfClass * unicodeClassesIn(source),
      matches(text, spend) {
        const letters = lettersOf(text);
        // The cost of preparing the text and the sets of steps.
        spend(20 + (program.length >> 3) + (letters.length >> 2));
        return run(program, { letters, looks: runLooks(looks, letters, spend), isBackward: false, spend }, true).length > 0;
      },
    },
  };
}

/** Runs the look-arounds over a text. Returns for each of them an array with 1 at every place where it holds. */
export function runLooks(looks: readonly Look[], letters: Uint32Array, spend: Spend): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const look of looks) found.push(run(look.program, { letters, looks: found, isBackward: look.isBackward, spend }));
  return found;
}

interface Reading {
  readonly letters: Uint32Array;
  /** For each look-around, 1 at every place where it holds. */
  readonly looks: readonly Uint8Array[];
  readonly isBackward: boolean;
  readonly spend: Spend;
}

const nowhere = new Uint8Array(0);
const somewhere = new Uint8Array(1);

/**
 * Runs a program over a text. Returns an array with 1 at every place where a match ends, wherever the match began.
 * With `isOnce` the run stops at the first such place and returns `somewhere`, or `nowhere` if there is none.
 */
function run(program: readonly PatternStep[], reading: Reading, isOnce = false): Uint8Array {
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

/** Adds a step, and all steps that can be reached from it without reading a letter. */
function follow(program: readonly PatternStep[], first: number, place: number, set: StepSet, reading: Reading): void {
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

/** The set of steps that a program has reached. */
class StepSet {
  readonly #steps: Uint32Array;
  /** The index of each step in `#steps`. It counts only if that step is really there, so `clear` need not change this array. */
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

  /** Adds a step; false if the set has it already. */
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
