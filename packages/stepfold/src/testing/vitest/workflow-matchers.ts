import type { Status } from "../../core/snapshot/snapshot.ts";
import { expectGolden } from "../kit/expect-golden.ts";
import { nodeModule } from "../kit/node-module.ts";
import { TestFailure } from "../kit/test-failure.ts";
import type { TestRun } from "../kit/test-run.ts";

/** What the matchers add to `expect(t)`. Add them to the types of vitest: `declare module "vitest" { interface Assertion<T> extends WorkflowMatchers {} }`. */
export interface WorkflowMatchers<R = unknown> {
  /** The execution has this status. */
  toHaveStatus(status: Status): R;
  /** The execution has come to these steps, in this order. */
  toHaveGone(way: readonly string[]): R;
  /** The execution waits at this address, or for this signal. */
  toWaitFor(name: string): R;
  /** The test is what its golden file says; see `expectGolden`. A path is one from the folder of the test file. */
  toMatchGolden(file: string | URL): Promise<R>;
}

/** What a matcher returns. */
interface Matched {
  readonly pass: boolean;
  readonly message: () => string;
  readonly actual?: unknown;
  readonly expected?: unknown;
}

type AnyRun = Pick<TestRun, "workflowId" | "status" | "way" | "waits" | "error" | "explain">;

/** The state of a matcher, as far as it is needed. */
interface MatcherState {
  readonly testPath?: string | undefined;
  readonly isNot?: boolean | undefined;
}

/**
 * Matchers for `expect.extend`, of vitest or of any runner with the same matchers. This module imports no test runner.
 *
 * ```ts
 * import { expect } from "vitest";
 * import { workflowMatchers } from "stepfold/testing/vitest";
 *
 * expect.extend(workflowMatchers);
 * expect(t).toHaveStatus("paused");
 * expect(t).toWaitFor("approve");
 * await expect(t).toMatchGolden("subscription.json");
 * ```
 */
export const workflowMatchers: {
  readonly toHaveStatus: (t: AnyRun, status: Status) => Matched;
  readonly toHaveGone: (t: AnyRun, way: readonly string[]) => Matched;
  readonly toWaitFor: (t: AnyRun, name: string) => Matched;
  readonly toMatchGolden: (this: MatcherState, t: AnyRun, file: string | URL) => Promise<Matched>;
} = {
  toHaveStatus(t, status) {
    const { status: actual, error } = t;
    const why = `${t.explain().sentence}${error ? ` (${error.message})` : ""}`;
    return { pass: actual === status, message: () => `"${t.workflowId}" is ${actual}: ${why}`, actual, expected: status };
  },
  toHaveGone(t, way) {
    const actual = t.way;
    const pass = actual.length === way.length && actual.every((step, i) => step === way[i]);
    return { pass, message: () => `"${t.workflowId}" has gone ${listed(actual)}`, actual, expected: way };
  },
  toWaitFor(t, name) {
    const actual = t.waits.flatMap(({ address, signal }) => (signal === undefined || signal === address ? address : [address, signal]));
    return { pass: actual.includes(name), message: () => `"${t.workflowId}" waits for ${listed(actual)}`, actual, expected: name };
  },
  async toMatchGolden(t, file) {
    try {
      await expectGolden(t, besideTest(file, this.testPath));
      return { pass: true, message: () => `"${t.workflowId}" is what ${file} says` };
    } catch (error) {
      if (error instanceof TestFailure) return { pass: false, message: () => error.message };
      throw error;
    }
  },
};

function listed(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.join(", ");
}

function besideTest(file: string | URL, testPath: string | undefined): string | URL {
  const paths = nodeModule("node:path");
  return typeof file === "string" && testPath !== undefined && paths ? paths.resolve(paths.dirname(testPath), file) : file;
}
