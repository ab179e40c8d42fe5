import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "stepfold-pure-"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
afterAll(() => rmSync(folder, { recursive: true }));

/** Compiles one expression with the options of the pure layers, and returns the compiler's output. */
function compile(line: string): string {
  const config = `${root}packages/stepfold/tsconfig.pure.json`;
  writeFileSync(join(folder, "probe.ts"), `export const probe: unknown = ${line};\n`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: config,
      compilerOptions: { noEmit: true, composite: false, rootDir: "." },
      include: ["probe.ts"],
      exclude: [],
    }),
  );
  return spawnSync(`${root}node_modules/.bin/tsc`, ["-p", folder], { encoding: "utf8" }).stdout;
}

describe("the compiler's net", () => {
  it.each([
    "setTimeout",
    "process",
    "crypto",
    "URL",
    "console",
    "Buffer",
    "performance",
    "fetch",
    "AbortSignal",
  ])("does not know %s in the pure layers", (name) => expect(compile(name)).toContain(`Cannot find name '${name}'`));

  it("knows the language itself", () => expect(compile("[Math.max(1, 2), JSON.stringify({}), new Map()]")).toBe(""));

  it("covers core, expressions and ports", () => {
    const { include } = JSON.parse(readFileSync(`${root}packages/stepfold/tsconfig.pure.json`, "utf8")) as { include: string[] };
    expect(include).toEqual(["src/core", "src/expressions", "src/ports"]);
  });
});
