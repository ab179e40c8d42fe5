import { collectSecrets } from "./collect-secrets.ts";
import { type Scrub, scrubber } from "./scrubber.ts";

/**
 * The secrets of one value of `globals`. They are searched for at once, so that what cannot be searched is refused when a runtime is made. What
 * is prepared for the search in texts is kept until a secret changes.
 */
export class Secrets {
  readonly #globals: unknown;
  readonly #listed: readonly string[];
  #known: ReadonlySet<string>;
  #scrub: Scrub | null = null;

  /**
   * @param listed paths into `globals` of further secrets
   * @throws StepfoldError `OPTION_INVALID` for a path that leads to no text, and for more than can be searched
   */
  constructor(globals: unknown, listed: readonly string[] = []) {
    this.#globals = globals;
    this.#known = collectSecrets(globals, listed);
    this.#listed = Object.freeze([...listed]);
  }

  /** Returns what removes the secrets that `globals` holds now. */
  readonly current = (): Scrub => {
    const now = this.#collected();
    if (now.size !== this.#known.size || [...now].some((secret) => !this.#known.has(secret))) {
      this.#known = now;
      this.#scrub = null;
    }
    this.#scrub ??= scrubber(this.#known);
    return this.#scrub;
  };

  #collected(): ReadonlySet<string> {
    try {
      return collectSecrets(this.#globals, this.#listed);
    } catch {
      // `globals` was changed to what would have been refused at the start: what was known then is still removed
      return this.#known;
    }
  }

  /** Removes the secrets that `globals` holds now from a text. */
  readonly scrub: Scrub = (text) => this.current()(text);
}
