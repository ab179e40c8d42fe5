import type { Issue, IssueCode } from "../errors/issue.ts";
import type { Limits } from "../values/limits.ts";
import { similar } from "../values/similar.ts";
import { WorkBudget } from "../values/work-budget.ts";

/** Pairs of letters that are compared to find what was meant by names, in one definition. */
const maxCompared = 500_000;
/** Names that are listed where none is similar. */
const maxListed = 20;

/** What is found in a definition while it is checked: bounded, however much is wrong with it. */
export class DefinitionReport {
  /** In the order in which they were found. */
  readonly issues: Issue[] = [];
  readonly #max: number;
  readonly #counts = { error: 0, warning: 0 };
  readonly #comparing: WorkBudget;

  /** @param limits how many errors are kept, and how many warnings */
  constructor({ issues }: Pick<Limits, "issues">, work: WorkBudget | null = null) {
    this.#max = issues;
    this.#comparing = new WorkBudget(maxCompared, work);
  }

  /** Issues that were found, also those that were not kept. */
  get count(): number {
    return this.#counts.error + this.#counts.warning;
  }

  get hasErrors(): boolean {
    return this.#counts.error > 0;
  }

  add(code: IssueCode, pointer: string, message: string, severity: Issue["severity"] = "error"): void {
    const count = ++this.#counts[severity];
    if (count <= this.#max) this.issues.push({ severity, code, pointer, message });
    else if (count === this.#max + 1) {
      const more = `there are more ${severity}s than the ${this.#max} that are listed here`;
      this.issues.push({ severity, code: "TOO_MANY", pointer: "", message: more });
    }
  }

  warn(code: IssueCode, pointer: string, message: string): void {
    this.add(code, pointer, message, "warning");
  }

  addAll(issues: Iterable<Issue>): void {
    for (const { code, pointer, message, severity } of issues) this.add(code, pointer, message, severity);
  }

  /** The name that was probably meant; none once many names were compared. */
  meant(name: unknown, known: Iterable<string>): string | undefined {
    if (typeof name !== "string") return undefined;
    return similar(name, this.#affordable(name, known));
  }

  /** "Did you mean", where something known is similar. */
  suggestion(name: unknown, known: Iterable<string>): string {
    const meant = this.meant(name, known);
    return meant === undefined ? "" : `. Did you mean "${meant}"?`;
  }

  /** "Did you mean", or else what is known. */
  suggestionOrList(name: string, known: Iterable<string>): string {
    if (this.#comparing.isSpent) return "";
    const names = [...known];
    return this.suggestion(name, names) || `. Known: ${names.slice(0, maxListed).join(", ") || "none"}`;
  }

  /** Names, as long as there is something left to compare them with. */
  *#affordable(name: string, known: Iterable<string>): Generator<string, void> {
    for (const candidate of known) {
      // names of other lengths are told apart at once
      const isClose = Math.abs(candidate.length - name.length) <= 2;
      if (!this.#comparing.spend(isClose ? candidate.length * name.length : 1)) return;
      yield candidate;
    }
  }
}
