/** Counts and limits the work of a computation, so that even a hostile definition gets an answer in time. */
export class WorkBudget {
  readonly #max: number;
  readonly #parent: WorkBudget | null;
  /** The units of work that were taken so far. */
  spent = 0;

  /** @param parent the budget that this one is a part of: it counts the same work too, and if it is spent, this one is too */
  constructor(max: number, parent: WorkBudget | null = null) {
    this.#max = max;
    this.#parent = parent;
  }

  /** True once `spend` has refused something. */
  isSpent = false;

  /**
   * Takes units of work from the budget. Returns false if too few are left: then the work must not be done, and every later call is refused
   * too.
   */
  spend(units: number): boolean {
    this.isSpent ||= this.spent + units > this.#max || !(this.#parent?.spend(units) ?? true);
    if (!this.isSpent) this.spent += units;
    return !this.isSpent;
  }
}
