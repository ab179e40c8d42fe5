/** Counts what a computation does, so that a hostile definition ends in an answer. */
export class WorkBudget {
  readonly #max: number;
  readonly #whole: WorkBudget | null;
  spent = 0;

  /** @param whole what this is a part of: it counts the work too */
  constructor(max: number, whole: WorkBudget | null = null) {
    this.#max = max;
    this.#whole = whole;
  }

  /** Something was refused. */
  isSpent = false;

  /** False if that is more than is left: then it is not to be done, and nothing is allowed from then on. */
  spend(units: number): boolean {
    this.isSpent ||= this.spent + units > this.#max || !(this.#whole?.spend(units) ?? true);
    if (!this.isSpent) this.spent += units;
    return !this.isSpent;
  }
}
