import { type LockLimit, withLockLimit } from "../lock-limit.ts";

/** The most texts that are kept; then all are dropped. Large groups of different writes need ever new texts. */
const maxTexts = 500;

/**
 * The texts of statements that depend only on which values a write has, and not on the values. So each text is built once, because
 * building it for each write would take a tenth of the processor time of a step.
 */
export class StatementTexts {
  readonly #lockLimit: LockLimit;
  readonly #texts = new Map<string, string>();
  /** The lock limit in the texts, in milliseconds. */
  #lockMs: number;

  /** @param lockLimit replaces `lockLimitMark` in the texts */
  constructor(lockLimit: LockLimit) {
    this.#lockLimit = lockLimit;
    this.#lockMs = lockLimit.ms;
  }

  /**
   * Returns the text of a shape, with the present lock limit.
   *
   * @param shape a name that differs for different texts
   * @param make returns the text
   */
  of(shape: string, make: () => string): string {
    const { ms } = this.#lockLimit;
    if (this.#lockMs !== ms || this.#texts.size >= maxTexts) this.#texts.clear();
    this.#lockMs = ms;
    const known = this.#texts.get(shape);
    if (known !== undefined) return known;
    const text = withLockLimit(make(), ms);
    this.#texts.set(shape, text);
    return text;
  }
}
