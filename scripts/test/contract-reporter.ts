import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";
import { type StoreRow, updateStoreTable } from "./store-table.ts";

const title = /^SnapshotStore contract: (.+)$/;
const queueTitle = /^WorkQueue contract: (.+)$/;

/**
 * The output of `npm run contract`: the failures, and then one line for each store and each queue. It also updates the table of stores
 * in the docs.
 */
export default class ContractReporter implements Reporter {
  readonly #stores = new Map<string, StoreRow>();
  readonly #queues = new Map<string, Counts>();
  /** The tests of one store besides the contract. */
  readonly #own = new Map<string, Counts>();

  onTestCaseResult(test: TestCase): void {
    const suite = outermost(test);
    const store = title.exec(suite)?.[1];
    const { state, errors } = test.result();
    if (state === "failed") console.log(`FAILED ${store ?? suite}: ${test.name}${textOf(errors ?? [])}`);
    if (store === undefined) {
      const queue = queueTitle.exec(suite)?.[1];
      count(queue === undefined ? this.#own : this.#queues, queue ?? suite, state);
      return;
    }
    const row = this.#stores.get(store) ?? { name: store, passed: 0, failed: 0, notClaimed: 0, features: null };
    this.#stores.set(store, row);
    row.features ??= (test.meta() as { features?: StoreRow["features"] }).features ?? null;
    if (state === "passed") row.passed++;
    else if (state === "failed") row.failed++;
    else row.notClaimed++;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    for (const module of modules) if (module.errors().length > 0) console.log(`FAILED ${module.moduleId}${textOf(module.errors())}`);
    if (errors.length > 0) console.log(`FAILED${textOf(errors)}`);
    const rows = [...this.#stores.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const { name, passed, failed, notClaimed } of rows) {
      console.log(`${name}: ${passed} passed, ${failed} failed, ${notClaimed} not claimed`);
    }
    for (const [name, { passed, failed, skipped }] of [...this.#queues].sort(([a], [b]) => (a < b ? -1 : 1))) {
      console.log(`queue ${name}: ${passed} passed, ${failed} failed, ${skipped} not claimed`);
    }
    for (const [suite, { passed, failed, skipped }] of [...this.#own].sort(([a], [b]) => (a < b ? -1 : 1))) {
      console.log(`  ${suite}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
    }
    if (rows.every(({ failed, features }) => failed === 0 && features !== null)) updateStoreTable(rows);
  }
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

function count(rows: Map<string, Counts>, name: string, state: keyof Counts | "pending"): void {
  const row = rows.get(name) ?? { passed: 0, failed: 0, skipped: 0 };
  rows.set(name, row);
  row[state === "pending" ? "skipped" : state]++;
}

function outermost(test: TestCase): string {
  let suite = "";
  for (let one: TestCase["parent"] = test.parent; one.type === "suite"; one = one.parent) suite = one.name;
  return suite;
}

function textOf(errors: readonly SerializedError[]): string {
  return errors.map(({ message, stack }) => `\n  ${message}\n  ${stack?.split("\n")[1]?.trim() ?? ""}`).join("");
}
