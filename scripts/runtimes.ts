// npm run runtimes [-- NAME...]: runs the tests of the core, the engine and the expressions on Node.js 20, 22, 24 and 26, Bun, Deno and
// workerd.
import { leftOut, leftOutInWorkerd } from "./runtimes/bundle-suite.ts";
import { type RuntimeName, runOn, runtimeNames } from "./runtimes/runtimes.ts";

const named = process.argv.slice(2) as RuntimeName[];
const stranger = named.find((name) => !runtimeNames.includes(name));
if (stranger !== undefined) throw new RangeError(`${stranger} is no runtime. There are: ${runtimeNames.join(", ")}`);
for (const name of named.length > 0 ? named : runtimeNames) {
  const start = performance.now();
  const { passed, skipped, failures } = await runOn(name);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.log(`${name.padEnd(8)} ${passed} passed, ${failures.length} failed, ${skipped} skipped in ${seconds} s`);
  for (const { test, error } of failures) console.log(`  FAILED ${test}\n    ${error}`);
  if (failures.length > 0 || passed === 0) process.exitCode = 1;
}
for (const [file, reason] of Object.entries(leftOut)) console.log(`left out: ${file}: ${reason}`);
for (const [file, reason] of Object.entries(leftOutInWorkerd)) console.log(`left out in workerd: ${file}: ${reason}`);
