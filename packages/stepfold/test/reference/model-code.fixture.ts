import type { Program } from "./random-program.fixture.ts";

/** What a step, or a part of a program, has given. An error names the step that has thrown it; 0 for the code itself. */
export type Outcome = { readonly value: unknown } | { readonly error: string; readonly origin: number };

/** A step that the program has asked for. */
export interface Asked {
  /** From 1, in the order of the asking. */
  readonly number: number;
  readonly name: string;
  readonly kind: "run" | "wait" | "sleep";
  readonly maxAttempts: number;
}

type Done = (outcome: Outcome) => void;

/**
 * The reference model of durable code. It interprets a program with callbacks, and uses no promises, no engine and no store. The test gives it the
 * results of steps one at a time; after each result it says which steps the program has asked for, and how the program has ended.
 */
export class CodeModel {
  readonly asked: Asked[] = [];
  /** How the program has ended; null while it waits. */
  end: Outcome | null = null;
  readonly #waiting = new Map<number, Done>();

  constructor(program: Program) {
    this.#go(program, (outcome) => {
      this.end ??= outcome;
    });
  }

  /** The steps for which the program waits. Once it has ended it waits for none. */
  open(): Asked[] {
    return this.end ? [] : this.asked.filter(({ number }) => this.#waiting.has(number));
  }

  isWaitingFor(number: number): boolean {
    return this.end === null && this.#waiting.has(number);
  }

  /** Gives the program the result of a step, and runs it until it can go no further. */
  give(number: number, outcome: Outcome): void {
    const done = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (this.end === null) done?.(outcome);
  }

  #go(program: Program, done: Done): void {
    switch (program.kind) {
      case "run":
        this.#ask({ name: program.name, kind: "run", maxAttempts: program.maxAttempts }, done);
        break;
      case "wait":
      case "sleep":
        this.#ask({ name: program.name, kind: program.kind, maxAttempts: 1 }, done);
        break;
      case "throw":
        done({ error: program.message, origin: 0 });
        break;
      case "sequence":
        this.#inOrder(program.parts, done);
        break;
      case "repeat":
        this.#inOrder(
          Array.from({ length: program.times }, () => program.body),
          done,
        );
        break;
      case "try":
        this.#go(program.body, (outcome) => ("error" in outcome ? this.#go(program.handler, done) : done(outcome)));
        break;
      case "twins":
        this.#go(program.first, (outcome) => ("error" in outcome ? done(outcome) : this.#together("all", program.bodies, done)));
        break;
      default:
        this.#together(program.kind, program.parts, done);
    }
  }

  #ask(step: Omit<Asked, "number">, done: Done): void {
    const number = this.asked.length + 1;
    this.asked.push({ number, ...step });
    this.#waiting.set(number, done);
  }

  #inOrder([first, ...others]: readonly Program[], done: Done): void {
    if (!first) done({ value: null });
    else this.#go(first, (outcome) => ("error" in outcome || others.length === 0 ? done(outcome) : this.#inOrder(others, done)));
  }

  /** Runs parts at once. What decides is told once, and all parts go on. */
  #together(kind: "all" | "race" | "any" | "settled", parts: readonly Program[], done: Done): void {
    const outcomes: Outcome[] = [];
    let left = parts.length;
    let isDecided = false;
    const decide = (outcome: Outcome): void => {
      if (!isDecided) done(outcome);
      isDecided = true;
    };
    const ended = (nth: number, outcome: Outcome): void => {
      outcomes[nth] = outcome;
      left--;
      const failed = "error" in outcome;
      if (kind === "race" || (kind === "all" && failed) || (kind === "any" && !failed)) decide(outcome);
      else if (left > 0) return;
      else if (kind === "any") decide({ error: "All promises were rejected", origin: -1 });
      else decide({ value: outcomes.map((one) => ("error" in one ? one.error : one.value)) });
    };
    for (const [nth, part] of parts.entries()) this.#go(part, (outcome) => ended(nth, outcome));
  }
}
