// A replacement of the module "vitest" for runtimes without vitest: the same `expect`, and a runner that needs only JavaScript.
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from "@vitest/expect";
import type { ExpectStatic } from "vitest";

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);

const world = globalThis as unknown as Record<symbol, object>;
/** Built like vitest's `expect`, without the parts that watch a test or keep snapshots. */
export const expect = Object.assign(
  (value: unknown, message?: string) => chai.expect(value, message),
  chai.expect,
  world[ASYMMETRIC_MATCHERS_OBJECT],
) as unknown as ExpectStatic;
world[GLOBAL_EXPECT] = expect;
setState({ assertionCalls: 0 }, expect as never);
(chai.expect as unknown as { extend(expect: unknown, matchers: object): void }).extend(expect, customMatchers);

type Work = (...args: never[]) => unknown;

interface Hooks {
  readonly beforeAll: Work[];
  readonly afterAll: Work[];
  readonly beforeEach: Work[];
  readonly afterEach: Work[];
}

interface Test {
  readonly name: string;
  readonly work: () => unknown;
}

/** Tests under one title. The tests of a file are under the name of the file. */
interface Suite extends Hooks {
  readonly name: string;
  readonly parts: (Suite | Test)[];
}

function suiteOf(name: string): Suite {
  return { name, parts: [], beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] };
}

/** The suite to which tests are being added. */
let current = suiteOf("");

function addSuite(name: string, write: () => void): void {
  const outer = current;
  current = suiteOf(name);
  outer.parts.push(current);
  try {
    write();
  } finally {
    current = outer;
  }
}

class Skipped extends TypeError {}

const context = {
  skip: (): never => {
    throw new Skipped();
  },
};

/**
 * Adds a test.
 * @param options options before the function, or the function itself. They are ignored, and so is a timeout after the function: nothing
 * here times out.
 */
function addTest(name: string, options: Work | object, work = options as Work): void {
  const run = typeof work === "function" ? work : (options as Work);
  current.parts.push({ name, work: () => run(context as never) });
}

/** Adds one test or suite for each row, all with the same name. If all rows are arrays, they hold the arguments. */
const eachOf =
  (add: (name: string, work: () => unknown) => void) =>
  (rows: readonly unknown[]) =>
  (name: string, work: Work): void => {
    const areLists = rows.every(Array.isArray);
    for (const row of rows) add(name, () => work(...((areLists ? row : [row]) as never[])));
  };

export const describe = Object.assign(addSuite, { each: eachOf(addSuite) });
export const it = Object.assign(addTest, { each: eachOf(addTest) });

const hook =
  (kind: keyof Hooks) =>
  (work: Work): void =>
    void current[kind].push(work);
export const beforeAll = hook("beforeAll");
export const afterAll = hook("afterAll");
export const beforeEach = hook("beforeEach");
export const afterEach = hook("afterEach");

/** The result of all tests. */
export interface Report {
  passed: number;
  skipped: number;
  readonly failures: { readonly test: string; readonly error: string }[];
}

/** Runs the tests of files, one file after the other. A file is loaded when its turn comes. */
export async function runFiles(files: Readonly<Record<string, () => Promise<unknown>>>): Promise<Report> {
  const report: Report = { passed: 0, skipped: 0, failures: [] };
  for (const [file, load] of Object.entries(files)) {
    current = suiteOf(file);
    await guarded(report, file, load);
    await runSuite(current, file, [], report);
  }
  return report;
}

async function runSuite(suite: Suite, path: string, outer: readonly Hooks[], report: Report): Promise<void> {
  const hooks = [...outer, suite];
  for (const before of suite.beforeAll) await guarded(report, path, before);
  for (const part of suite.parts) {
    const name = `${path} > ${part.name}`;
    if ("parts" in part) await runSuite(part, name, hooks, report);
    else if (await guarded(report, name, () => runTest(part, hooks))) report.passed++;
  }
  for (const after of suite.afterAll) await guarded(report, path, after);
}

async function runTest({ work }: Test, hooks: readonly Hooks[]): Promise<void> {
  for (const { beforeEach: before } of hooks) for (const one of before) await one();
  try {
    await work();
  } finally {
    for (const { afterEach: after } of hooks.toReversed()) for (const one of after) await one();
  }
}

/** Runs `work` and records a failure or a skip. Returns true if it did not throw. */
async function guarded(report: Report, name: string, work: () => unknown): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof Skipped) report.skipped++;
    else report.failures.push({ test: name, error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
    return false;
  }
}
