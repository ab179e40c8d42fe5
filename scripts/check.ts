// Everything that CI checks beside the tests: one line for each, with its output only where it fails. The rules of the
// architecture are tests, so npm test has them; here is only the table in ARCHITECTURE.md.
import { spawnSync } from "node:child_process";

const steps = [
  "build",
  "check:lint",
  "check:types",
  "check:import-table",
  "check:exports",
  "check:api",
  "check:package",
  "check:consumer",
  "check:unused",
  "check:coverage",
];

const failed = steps.filter((step) => !run(step));
if (failed.length > 0) {
  console.log(`\nFailed: ${failed.map((step) => `npm run ${step}`).join(", ")}`);
  process.exitCode = 1;
}

function run(step: string): boolean {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(`npm run --silent ${step}`, {
    shell: true,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"}  ${step.padEnd(20)} ${seconds.padStart(5)} s`);
  if (status !== 0) console.log(`${stdout}${stderr}`.trimEnd());
  return status === 0;
}
