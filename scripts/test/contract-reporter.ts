import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

interface Tally {
  passed: number;
  failed: number;
  notClaimed: number;
}

const title = /^SnapshotStore contract: (.+)$/;

/** What `npm run contract` prints: one line for each store, and before them what failed. */
export default class ContractReporter implements Reporter {
  readonly #stores = new Map<string, Tally>();

  onTestCaseResult(test: TestCase): void {
    const { parent } = test;
    const store = parent.type === "suite" ? (title.exec(parent.name)?.[1] ?? parent.fullName) : test.module.moduleId;
    const tally = this.#stores.get(store) ?? { passed: 0, failed: 0, notClaimed: 0 };
    this.#stores.set(store, tally);
    const { state, errors } = test.result();
    if (state === "passed") tally.passed++;
    else if (state === "skipped") tally.notClaimed++;
    else {
      tally.failed++;
      console.log(`FAILED ${store}: ${test.name}${textOf(errors ?? [])}`);
    }
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    for (const { moduleId, errors: own } of modules.map((module) => ({ moduleId: module.moduleId, errors: module.errors() }))) {
      if (own.length > 0) console.log(`FAILED ${moduleId}${textOf(own)}`);
    }
    if (errors.length > 0) console.log(`FAILED${textOf(errors)}`);
    for (const [store, { passed, failed, notClaimed }] of [...this.#stores].sort(([a], [b]) => (a < b ? -1 : 1))) {
      console.log(`${store}: ${passed} passed, ${failed} failed, ${notClaimed} not claimed`);
    }
  }
}

function textOf(errors: readonly SerializedError[]): string {
  return errors.map(({ message, stack }) => `\n  ${message}\n  ${stack?.split("\n")[1]?.trim() ?? ""}`).join("");
}
