// Runs the tests of the library's pure parts and of the engine with coverage: the thresholds are in vitest.config.ts.
// Apart from `npm test`, because measuring makes everything several times slower.
import { spawnSync } from "node:child_process";
import { effortVariable } from "./test/effort.ts";

const parts = ["core", "expressions", "engine", "nodes"].map((part) => `packages/stepfold/src/${part}/`);
const scenarios = ["core", "reference", "expressions", "engine", "hostile", "limits", "nodes"].map(
  (area) => `packages/stepfold/test/${area}/`,
);
const measured = ["core", "expressions"].map((part) => `--coverage.include=packages/stepfold/src/${part}/**/*.ts`);
const { status, error } = spawnSync("vitest", ["run", "--coverage", ...measured, "--project", "unit", ...parts, ...scenarios], {
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, [effortVariable]: "quick" },
});
if (error) console.error(error.message);
process.exitCode = status ?? 1;
