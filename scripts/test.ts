// Builds, runs tests and ends with one plain line: N passed, N failed, N skipped.
// npm test [-- NAME], npm run test:all [-- GROUP... NAME], npm run storm [-- GROUP... NAME]: see test/test-plan.ts and test/effort.ts
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addCounts, type Counts, countTests, describeCounts, type TestReport } from "./test/counts.ts";
import { type EffortName, effortVariable } from "./test/effort.ts";
import { groupNames, type TestRun, testPlan } from "./test/test-plan.ts";

const [command = "quick", ...args] = process.argv.slice(2);
const { runs, rest } = testPlan(command as EffortName, args);
const names = rest.filter((arg) => !arg.startsWith("-"));
const options = rest.filter((arg) => arg.startsWith("-"));
const always = ["run", "--passWithNoTests", "--reporter=default", "--reporter=json"];
const folder = mkdtempSync(join(tmpdir(), "stepfold-test-"));

const built = run("npm", ["run", "--silent", "build"]);
const none: Counts = { passed: 0, failed: 0, skipped: 0 };
const ran = built ? runs.map(countsOf).reduce(addCounts, none) : none;
const counts = ran.passed + ran.failed + ran.skipped === 0 ? { ...none, failed: 1 } : ran;
rmSync(folder, { recursive: true });

if (ran !== counts) console.log(built ? "\nNo test has that name." : "\nThe build failed, so no test ran.");
if (command === "quick") {
  console.log(`\nLeft out: tests on servers, and more than a few races, kills and simulations. With them: npm run test:all`);
  console.log(`(a group alone: npm run test:all -- ${groupNames.slice(1).join(" | ")})`);
}
console.log(`\n${describeCounts(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;

function countsOf({ name, effort, projects, files }: TestRun): Counts {
  const chosen = files?.filter((file) => names.length === 0 || names.some((one) => file.includes(one)));
  if (chosen?.length === 0) return none;
  const report = join(folder, `${name}.json`);
  const start = performance.now();
  const passed = run(
    "vitest",
    [...always, `--outputFile.json=${report}`, ...projects.map((one) => `--project=${one}`), ...options, ...(chosen ?? names)],
    { [effortVariable]: effort },
  );
  const counted = readCounts(report);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  if (runs.length > 1) console.log(`\n${name}: ${describeCounts(counted)} in ${seconds} s\n`);
  if (passed || counted.failed > 0) return counted;
  console.log(`\n${name}: every test passed, but the run failed: see above.`);
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
