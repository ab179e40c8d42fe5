/** Counts and limits the work of a computation, so that even a hostile definition gets an answer in time. */
export class WorkBudget {
  readonly #max: number;
  readonly #whole: WorkBudget | null;
  spent = 0;

  /** @param whole the budget that this one is a part of; it counts the same work too */
  constructor(max: number, whole: WorkBudget | null = null) {
    this.#max = max;
    this.#whole = whole;
  }

  /** True once `spend` has refused something. */
  isSpent = false;

  /**
   * Takes units of work from the budget. Returns false if too few are left: then the work must not be done, and every later call is refused
   * too.
   */
  spend(units: number): boolean {
    this.isSpent ||= this.spent + units > this.#max || !(this.#whole?.spend(units) ?? true);
    if (!this.isSpent) this.spent += units;
    return !this.isSpent;
  }
}
