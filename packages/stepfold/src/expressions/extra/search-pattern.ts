import { charge, type Frame } from "../evaluation/frame.ts";
import { runLooks } from "../pattern/pattern.ts";
import { isEdge, lettersOf, type PatternProgram, type PatternStep, writeProgram } from "../pattern/pattern-program.ts";
import type { PatternValue } from "../pattern/pattern-value.ts";

/**
 * The place of a match: the begin and end of the whole match, then of each group, as
 * indexes of the text. -1 means that the group took no part in the match.
 */
export type Match = readonly number[];

const programs = new WeakMap<PatternValue, PatternProgram>();

/** The number of search steps that one step of an expression's budget pays for. */
const stepsForOne = 16;

/** The search for a pattern in a text. Each search costs at most the length of the text times the size of the pattern and its groups. */
export class PatternSearch {
  readonly #frame: Frame;
  readonly #program: readonly PatternStep[];
  /** The text as code points. */
  readonly #letters: Uint32Array;
  /** For each look-around, 1 at every place between two letters where it holds. */
  readonly #looks: readonly Uint8Array[];
  /** The length of a match: two numbers for the whole match and two for each group. */
  readonly #slots: number;
  /** The price of one step of the program, in steps of the budget: it may have to copy the places that were saved. */
  readonly #price: number;
  /** The index in the text at which each letter begins; null if every letter is one UTF-16 code unit. */
  readonly #offsets: Uint32Array | null;
  /** For each step of the program, the letter at which the step was last added. */
  readonly #added: Int32Array;

  constructor(frame: Frame, pattern: PatternValue, text: string) {
    this.#frame = frame;
    const { part, groups } = pattern.parsed;
    const program = programs.get(pattern) ?? writeProgram(part, true);
    programs.set(pattern, program);
    this.#program = program.program;
    charge(frame, 1 + (text.length + program.program.length) / 128);
    this.#letters = lettersOf(text);
    this.#offsets = this.#letters.length === text.length ? null : offsetsOf(text, this.#letters.length);
    this.#looks = runLooks(program.looks, this.#letters, (units) => charge(frame, units / stepsForOne));
    this.#slots = 2 * (groups.length + 1);
    this.#price = (1 + this.#slots / 8) / stepsForOne;
    this.#added = new Int32Array(program.program.length);
  }

  /** The number of letters (code points) in the text. */
  get length(): number {
    return this.#letters.length;
  }

  /**
   * Returns the first match that begins at the letter `from` or later. If several matches begin there,
   * it is the one that JavaScript prefers. `end` is the index of the letter after the match.
   */
  search(from: number): { readonly found: Match; readonly end: number } | null {
    let best: Int32Array | null = null;
    let current: Thread[] = [];
    this.#added.fill(-1);
    for (let at = from; ; at++) {
      if (best === null) this.#follow(current, 0, at, new Int32Array(this.#slots).fill(-1));
      if (current.length === 0 && best !== null) break;
      charge(this.#frame, current.length * this.#price);
      const next: Thread[] = [];
      for (const { index, slots } of current) {
        const step = this.#program[index]!;
        if (step.kind === "match") {
          best = slots;
          // The threads after this one are less preferred.
          break;
        }
        if (step.kind === "letter" && at < this.#letters.length && step.fits(this.#letters[at]!))
          this.#follow(next, index + 1, at + 1, slots);
      }
      if (at >= this.#letters.length) break;
      current = next;
    }
    if (best === null) return null;
    return { found: Array.from(best, (letter) => this.#offset(letter)), end: best[1]! };
  }

  #offset(letter: number): number {
    return letter < 0 || this.#offsets === null ? letter : this.#offsets[letter]!;
  }

  /** Adds a step, and all steps that can be reached from it without reading a letter, the preferred ones first. */
  #follow(threads: Thread[], first: number, at: number, slots: Int32Array): void {
    // Step 0 begins a match, so its place is saved in slot 0.
    const open: Thread[] = [{ index: first, slots: saved(slots, first === 0 ? 0 : -1, at) }];
    for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
      const { index } = thread;
      if (this.#added[index] === at) continue;
      this.#added[index] = at;
      // paid for one by one, because a program of many groups would need much memory before the end of this loop
      charge(this.#frame, this.#price);
      const step = this.#program[index]!;
      if (step.kind === "jump") for (let i = step.to.length - 1; i >= 0; i--) open.push({ index: step.to[i]!, slots: thread.slots });
      else if (step.kind === "save") open.push({ index: index + 1, slots: saved(thread.slots, step.slot, at) });
      else if (step.kind === "forget") open.push({ index: index + 1, slots: thread.slots.slice().fill(-1, step.from, step.to + 1) });
      else if (step.kind === "edge") {
        if (isEdge(step.edge, this.#letters, at)) open.push({ index: index + 1, slots: thread.slots });
      } else if (step.kind === "look") {
        if ((this.#looks[step.index]![at] === 1) !== step.isNegated) open.push({ index: index + 1, slots: thread.slots });
      } else threads.push(step.kind === "match" ? { index, slots: saved(thread.slots, 1, at) } : thread);
    }
  }
}

/** One possible state of the search: the next step, and the places that were saved on the way to it. */
interface Thread {
  readonly index: number;
  readonly slots: Int32Array;
}

function saved(slots: Int32Array, slot: number, at: number): Int32Array {
  if (slot < 0) return slots;
  const copy = slots.slice();
  copy[slot] = at;
  return copy;
}

function offsetsOf(text: string, count: number): Uint32Array {
  const offsets = new Uint32Array(count + 1);
  let offset = 0;
  for (let letter = 0; letter < count; letter++) {
    offsets[letter] = offset;
    offset += text.codePointAt(offset)! > 0xffff ? 2 : 1;
  }
  offsets[count] = offset;
  return offsets;
}
