/** The shortest time between two sentences. */
const pauseMs = 5_000;

/**
 * What a screen reader is told of changes: at most one sentence in five seconds, so that a busy list does not talk all the time. Of the
 * sentences that come in between only the last one is said.
 */
export class Announcer {
  readonly #listeners = new Set<() => void>();
  readonly #schedule: (call: () => void, delayMs: number) => void;
  #sentence = "";
  #next: string | null = null;
  #isQuiet = false;

  constructor(schedule: (call: () => void, delayMs: number) => void = (call, delayMs) => void setTimeout(call, delayMs)) {
    this.#schedule = schedule;
  }

  /** Says a sentence now, or after the pause. */
  readonly announce = (sentence: string): void => {
    if (this.#isQuiet) this.#next = sentence;
    else this.#say(sentence);
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The sentence that is said last. */
  readonly getSentence = (): string => this.#sentence;

  #say(sentence: string): void {
    this.#sentence = sentence;
    this.#isQuiet = true;
    this.#schedule(() => this.#goOn(), pauseMs);
    for (const listener of this.#listeners) listener();
  }

  #goOn(): void {
    const next = this.#next;
    this.#next = null;
    this.#isQuiet = false;
    if (next !== null) this.#say(next);
  }
}
