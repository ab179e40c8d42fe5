// Builds, runs the tests and ends with one plain line: N passed, N failed, N skipped.
// Arguments go to vitest: npm test -- retry
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Counts, countTests, describeCounts, type TestReport } from "./test/counts.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-test-"));
const file = join(folder, "report.json");

const built = run("npm", ["run", "--silent", "build"]);
const passed =
  built && run("vitest", ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`, ...process.argv.slice(2)]);
const counts = readCounts();
rmSync(folder, { recursive: true });

if (!built) console.log("\nThe build failed, so no test ran.");
else if (!passed && counts.failed === 0) console.log("\nEvery test passed, but the run failed: see above.");
console.log(`\n${describeCounts(counts)}`);
process.exitCode = passed && counts.failed === 0 ? 0 : 1;

function run(command: string, args: readonly string[]): boolean {
  const { status, error } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
  if (error) console.error(error.message);
  return status === 0;
}

/** A run without a report, or without a test, counts as one failure. */
function readCounts(): Counts {
  try {
    return countTests(JSON.parse(readFileSync(file, "utf8")) as TestReport);
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
