// Runs everything that CI checks besides the tests. It prints one line for each step, and the output of a step only if the step fails.
// The rules of the architecture are tests and run with npm test; here only the table in ARCHITECTURE.md is checked.
import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";

/** The step that runs first, because all others need its output. */
const first = "build";
const others = [
  "check:coverage",
  "check:consumer",
  "check:package",
  "check:lint",
  "check:types",
  "check:unused",
  "check:import-table",
  "check:exports",
  "check:api",
  "check:reference",
];

const failed: string[] = [];
await run(first);
const waiting = [...others];
// as many steps run at the same time as there are processors, the longest first
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await run(step);
  }),
);
if (failed.length > 0) {
  console.log(`\nFailed: ${failed.map((step) => `npm run ${step}`).join(", ")}`);
  process.exitCode = 1;
}

function run(step: string): Promise<void> {
  const start = performance.now();
  const options = { encoding: "utf8", maxBuffer: 64 * 2 ** 20, env: { ...process.env, NO_COLOR: "1" } } as const;
  return new Promise((resolve) => {
    execFile(`npm run --silent ${step}`, { ...options, shell: true }, (error, stdout, stderr) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`${error ? "FAILED" : "ok    "}  ${step.padEnd(20)} ${seconds.padStart(5)} s`);
      if (error) {
        failed.push(step);
        console.log(`${stdout}${stderr}`.trimEnd());
      }
      resolve();
    });
  });
}
