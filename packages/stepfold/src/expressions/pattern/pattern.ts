import { isEdge, type Look, lettersOf, type PatternStep, sizeOf, tooLarge, writeProgram } from "./pattern-program.ts";
import { parsePattern } from "./pattern-syntax.ts";

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

/** Makes a regular expression ready. */
export function compilePattern(source: string): CompiledPattern {
  const parsed = parsePattern(source);
  if ("mistake" in parsed) return parsed;
  const mistake = tooLarge(parsed.part);
  if (mistake !== undefined) return { mistake };
  const { program, looks } = writeProgram(parsed.part, false);
  return {
    pattern: {
      size: sizeOf(parsed.part) + 1,
      matches(text, spend) {
        const letters = lettersOf(text);
        // what it takes to make everything ready
        spend(20 + (program.length >> 3) + (letters.length >> 2));
        return run(program, { letters, looks: runLooks(looks, letters, spend), isBackward: false, spend }, true).length > 0;
      },
    },
  };
}

/** For each part that looks around: at which places it holds. */
export function runLooks(looks: readonly Look[], letters: Uint32Array, spend: Spend): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const look of looks) found.push(run(look.program, { letters, looks: found, isBackward: look.isBackward, spend }));
  return found;
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

/** Adds a step, and all that follow from it without a letter. */
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
