/** How often it is looked whether something was heard. */
const tickMs = 1_000;

/**
 * Notices that nothing was heard for a time. Only ticks of its own timer count, so a time in which this process itself did not run, because
 * the machine slept or the terminal had stopped it, is no silence.
 */
export class Silence {
  readonly #maxMs: number;
  readonly #silent: () => void;
  #ticks = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param silent called once, when nothing was heard for `maxMs` */
  constructor(maxMs: number, silent: () => void) {
    this.#maxMs = maxMs;
    this.#silent = silent;
  }

  /** How long nothing was heard, in whole ticks. */
  get forMs(): number {
    return this.#ticks * tickMs;
  }

  begin(): void {
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
  }

  heard(): void {
    this.#ticks = 0;
  }

  end(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#ticks = 0;
  }

  #tick(): void {
    this.#ticks++;
    if (this.forMs < this.#maxMs) return;
    this.end();
    this.#silent();
  }
}
