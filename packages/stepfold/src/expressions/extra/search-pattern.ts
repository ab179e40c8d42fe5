import { charge, type Frame } from "../evaluation/frame.ts";
import { runLooks } from "../pattern/pattern.ts";
import { isEdge, lettersOf, type PatternProgram, type PatternStep, writeProgram } from "../pattern/pattern-program.ts";
import type { PatternValue } from "../pattern/pattern-value.ts";

/** Where a pattern was found: begin and end of the whole and of each group, as indexes of the text; -1 where a group took no part. */
export type Match = readonly number[];

const programs = new WeakMap<PatternValue, PatternProgram>();

/** Steps of a search that one step of an expression pays for. */
const stepsForOne = 32;

/** A text in which a pattern is searched for. Every search costs at most the length of the text times the size of the pattern. */
export class PatternSearch {
  readonly #frame: Frame;
  readonly #program: readonly PatternStep[];
  readonly #letters: Uint32Array;
  readonly #looks: readonly Uint8Array[];
  readonly #slots: number;
  /** Where each letter begins in the text; null if each is one unit. */
  readonly #offsets: Uint32Array | null;
  /** At which letter a step was last added. */
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
    this.#added = new Int32Array(program.program.length);
  }

  /** Letters of the text. */
  get length(): number {
    return this.#letters.length;
  }

  /** The first place from letter `from` on where it matches; of several matches there the one that JavaScript prefers. */
  search(from: number): { readonly found: Match; readonly end: number } | null {
    let best: Int32Array | null = null;
    let current: Thread[] = [];
    this.#added.fill(-1);
    for (let at = from; ; at++) {
      if (best === null) this.#follow(current, 0, at, new Int32Array(this.#slots).fill(-1));
      if (current.length === 0 && best !== null) break;
      charge(this.#frame, (current.length * (1 + this.#slots / 8)) / stepsForOne);
      const next: Thread[] = [];
      for (const { index, slots } of current) {
        const step = this.#program[index]!;
        if (step.kind === "match") {
          best = slots;
          // the threads after this one are less preferred
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

  /** Adds a step, and all that follow from it without a letter, the preferred ones first. */
  #follow(threads: Thread[], first: number, at: number, slots: Int32Array): void {
    const open: Thread[] = [{ index: first, slots: saved(slots, first === 0 ? 0 : -1, at) }];
    let steps = 0;
    for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
      const { index } = thread;
      if (this.#added[index] === at) continue;
      this.#added[index] = at;
      steps++;
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
    charge(this.#frame, (steps * (1 + this.#slots / 8)) / stepsForOne);
  }
}

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
