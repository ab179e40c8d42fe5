import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL(".", import.meta.url));
const { exports } = JSON.parse(readFileSync(`${root}packages/stepfold/package.json`, "utf8")) as { exports: Record<string, string | { default: string }> };

/** Tests read the sources, by the names that users import. */
const alias = Object.entries(exports).flatMap(([entry, target]) =>
  typeof target === "string"
    ? []
    : [{ find: new RegExp(`^stepfold${entry.slice(1).replaceAll("/", "\\/")}$`), replacement: `${root}packages/stepfold/${target.default.replace("dist/", "src/").replace(/\.js$/, ".ts")}` }],
);

export default defineConfig({
  resolve: { alias },
  test: {
    projects: [
      { extends: true, test: { name: "unit", include: ["packages/*/src/**/*.test.ts"], typecheck: { enabled: false } } },
      { extends: true, test: { name: "architecture", include: ["scripts/**/*.test.ts"] } },
      { extends: true, test: { name: "e2e", include: ["e2e/**/*.test.ts", "examples/**/*.test.ts"], testTimeout: 120_000, hookTimeout: 60_000 } },
    ],
  },
});
