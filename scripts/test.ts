// Builds, runs tests, and prints one plain last line: N passed, N failed, N skipped.
// npm test [-- NAME], npm run test:all [-- GROUP... NAME], npm run storm [-- GROUP... NAME]: see test/test-plan.ts and test/effort.ts
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Counts, countTests, describeCounts, type TestReport } from "./test/counts.ts";
import { type EffortName, effortVariable } from "./test/effort.ts";
import { testPlan } from "./test/test-plan.ts";

const [command = "quick", ...args] = process.argv.slice(2);
const { groups, rest } = testPlan(command as EffortName, args);

const counts = run("npm", ["run", "--silent", "build"]) ? runTests() : { passed: 0, failed: 1, skipped: 0 };
if (command === "quick") console.log("\nLeft out: servers and what stands in for them, repetition, mutants. With them: npm run test:all");
console.log(`\n${describeCounts(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;

function runTests(): Counts {
  const folder = mkdtempSync(join(tmpdir(), "stepfold-test-"));
  const report = join(folder, "report.json");
  const options = ["run", "--passWithNoTests", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  // hundreds of processes load the same sources, so the first one stores their compiled form in a cache
  const env = { [effortVariable]: command, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const passed = run("vitest", [...options, ...groups.map((one) => `--project=${one}`), ...rest], env);
  const counted = readCounts(report);
  rmSync(folder, { recursive: true });
  if (counted.failed > 0) return counted;
  if (passed && counted.passed + counted.skipped > 0) return counted;
  console.log(passed ? "\nNo test has that name." : "\nEvery test passed, but the run failed: see above.");
  return { ...counted, failed: 1 };
}

function run(program: string, programArgs: readonly string[], env: Readonly<Record<string, string>> = {}): boolean {
  const options = { stdio: "inherit", shell: process.platform === "win32", env: { ...process.env, ...env } } as const;
  const { status, error } = spawnSync(program, programArgs, options);
  if (error) console.error(error.message);
  return status === 0;
}

/** A run without a report counts as one failure. */
function readCounts(report: string): Counts {
  try {
    return countTests(JSON.parse(readFileSync(report, "utf8")) as TestReport);
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
