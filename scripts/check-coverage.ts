// Runs the tests of the library's pure parts and of the engine with coverage; the thresholds are in vitest.config.ts. It is separate
// from `npm test`, because measuring makes the tests several times slower.
import { spawnSync } from "node:child_process";
import { effortVariable } from "./test/effort.ts";

const parts = ["core", "expressions", "engine", "nodes"].map((part) => `packages/stepfold/src/${part}/`);
const areas = ["core", "durable", "golden", "reference", "expressions", "engine", "hostile", "limits", "nodes"];
// runs and restarts need a store
const scenarios = [
  ...areas,
  ...["continuing", "deadlines", "forks", "identity", "rates", "variables"].map((area) => `runtime/${area}`),
  "schedules/reserved",
].map((area) => `packages/stepfold/test/${area}`);
const measured = ["core", "expressions"].map((part) => `--coverage.include=packages/stepfold/src/${part}/**/*.ts`);
// These tests are left out: they repeat with large inputs or in many orders what other tests do once, so they cover no additional line,
// but take most of the time when measured. No shell is used, because it would interpret the patterns.
const repeating = [
  "costs? at most 2\\.2 times",
  "is answered, with at most so many issues",
  "ends in an answer or in the limit",
  "in each of [0-9]+ orders",
  "10,000 rounds of a loop",
  "is refused, typed, with",
  "with .* in it fails the node",
  "ends so by default too, in a heap",
];
const named = `--testNamePattern=^(?!.*(${repeating.join("|")}))`;
const { status, error } = spawnSync(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "--coverage", ...measured, named, "--project", "unit", ...parts, ...scenarios],
  {
    stdio: "inherit",
    env: { ...process.env, [effortVariable]: "quick" },
  },
);
if (error) console.error(error.message);
process.exitCode = status ?? 1;
