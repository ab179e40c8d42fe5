import { cutText } from "../errors/cut-text.ts";
import type { Issue, IssueCode } from "../errors/issue.ts";
import type { Limits } from "../values/limits.ts";
import { similar } from "../values/similar.ts";
import { WorkBudget } from "../values/work-budget.ts";

/** The most pairs of letters that are compared in one definition to find names that were probably meant. */
const maxCompared = 500_000;
/** The most known names that a message lists if none of them is similar. */
const maxListed = 20;

/** The most characters of the pointer and of the message of an issue. */
const maxText = 2_000;

/** Collects the issues that are found while a definition is checked. Their number is limited, however many mistakes there are. */
export class DefinitionReport {
  /** In the order in which they were found. After the last error or warning that is kept, one more issue says that there are others. */
  readonly issues: Issue[] = [];
  readonly #max: number;
  readonly #counts = { error: 0, warning: 0 };
  readonly #comparing: WorkBudget;
  /** The pointers of the errors that were found before `settle`. */
  #settled: readonly string[] = [];
  #isPartial = false;

  /**
   * @param limits `issues` is the most errors that are kept, and also the most warnings
   * @param work the budget of the whole check, to which the comparisons of names count too
   */
  constructor({ issues }: Pick<Limits, "issues">, work: WorkBudget | null = null) {
    this.#max = issues;
    this.#comparing = new WorkBudget(maxCompared, work);
  }

  /** The number of errors that were found, including those that were not kept. */
  get errorCount(): number {
    return this.#counts.error;
  }

  get hasErrors(): boolean {
    return this.#counts.error > 0;
  }

  /**
   * From now on, nothing more is added about the places of the errors that were found so far.
   *
   * @param isPartial true if these places are left out of what is checked next: then no warning is added either, because it may follow from that
   */
  settle(isPartial: boolean): void {
    this.#isPartial = isPartial;
    this.#settled = this.issues.filter(({ severity }) => severity === "error").map(({ pointer }) => pointer);
  }

  add(code: IssueCode, pointer: string, message: string, severity: Issue["severity"] = "error"): void {
    if (this.#isPartial && severity === "warning") return;
    if (this.#settled.some((known) => pointer === known || pointer.startsWith(`${known}/`))) return;
    const count = ++this.#counts[severity];
    if (count <= this.#max) this.issues.push({ severity, code, pointer: cutText(pointer, maxText), message: cutText(message, maxText) });
    else if (count === this.#max + 1) {
      const more = `there are more ${severity}s; only the first ${this.#max} are listed`;
      this.issues.push({ severity, code: "TOO_MANY", pointer: "", message: more });
    }
  }

  warn(code: IssueCode, pointer: string, message: string): void {
    this.add(code, pointer, message, "warning");
  }

  addAll(issues: Iterable<Issue>): void {
    for (const { code, pointer, message, severity } of issues) this.add(code, pointer, message, severity);
  }

  /** Returns the known name that was probably meant; undefined if none is similar, or if too many names were compared before. */
  meant(name: unknown, known: Iterable<string>): string | undefined {
    if (typeof name !== "string") return undefined;
    return similar(name, this.#affordable(name, known));
  }

  /** Returns a "Did you mean" text if a known name is similar; otherwise an empty text. */
  suggestion(name: unknown, known: Iterable<string>): string {
    const meant = this.meant(name, known);
    return meant === undefined ? "" : `. Did you mean "${meant}"?`;
  }

  /** Returns a "Did you mean" text if a known name is similar; otherwise the first known names. Empty if the budget is spent. */
  suggestionOrList(name: string, known: Iterable<string>): string {
    if (this.#comparing.isSpent) return "";
    const names = [...known];
    return this.suggestion(name, names) || `. Known: ${names.slice(0, maxListed).join(", ") || "none"}`;
  }

  /** Yields the known names as long as the budget for comparisons lasts. */
  *#affordable(name: string, known: Iterable<string>): Generator<string, void> {
    for (const candidate of known) {
      // `similar` rejects a name of a very different length at once
      const isClose = Math.abs(candidate.length - name.length) <= 2;
      if (!this.#comparing.spend(isClose ? candidate.length * name.length : 1)) return;
      yield candidate;
    }
  }
}
