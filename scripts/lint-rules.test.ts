import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const house = mkdtempSync(join(tmpdir(), "stepfold-lint-"));
cpSync(join(root, "biome.json"), join(house, "biome.json"));
cpSync(join(root, "scripts/lint"), join(house, "scripts/lint"), { recursive: true });
afterAll(() => rmSync(house, { recursive: true }));

/** Lints a file in a folder that has the project's rules and nothing else. Returns the output of the linter. */
function lint(path: string, text: string): string {
  mkdirSync(dirname(join(house, path)), { recursive: true });
  writeFileSync(join(house, path), text);
  const biome = join(root, "node_modules/.bin/biome");
  const { stdout, stderr } = spawnSync(biome, ["lint", "--vcs-enabled=false", "--colors=off", "--error-on-warnings", path], {
    cwd: house,
    encoding: "utf8",
  });
  return stdout + stderr;
}

const probe = (folder: string): string => `packages/stepfold/src/${folder}/probe.ts`;

describe("the linter's net", () => {
  it.each([
    ["Date.now()", "take time and chance as parameters"],
    ["new Date()", "take time and chance as parameters"],
    ["Math.random()", "take time and chance as parameters"],
    ["Intl.Collator", "noRestrictedGlobals"],
    ["setTimeout(work, 1)", "noRestrictedGlobals"],
    ["crypto.randomUUID()", "noRestrictedGlobals"],
    ["process.env", "noRestrictedGlobals"],
  ])("refuses %s in the pure layers only", (expression, rule) => {
    const text = `export const found: unknown = ${expression};\n`;
    for (const layer of ["core", "expressions", "ports"]) expect(lint(probe(layer), text)).toContain(rule);
    expect(lint(probe("engine"), text)).not.toContain(rule);
  });

  it("refuses Node, inner indexes, any, default exports and export *", () => {
    const text = [
      'import { readFileSync } from "node:fs";',
      'import { apply } from "../core/index.ts";',
      'export * from "./b.ts";',
      "export default (value: any): unknown => [readFileSync, apply, value];",
    ].join("\n");
    const said = lint(probe("core"), text);
    for (const rule of ["noNodejsModules", "noRestrictedImports", "noReExportAll", "noExplicitAny", "noDefaultExport"]) {
      expect(said).toContain(rule);
    }
  });

  it("refuses circles of imports, types included", () => {
    writeFileSync(join(house, dirname(probe("core")), "other.ts"), 'import type { A } from "./probe.ts";\nexport type B = A;\n');
    expect(lint(probe("core"), 'import type { B } from "./other.ts";\nexport type A = B;\n')).toContain("noImportCycles");
  });

  it("lets a date be made from a number", () => {
    expect(lint(probe("core"), "export const found: unknown = new Date(5).toISOString();\n")).toMatch(/^Checked 1 file/);
  });
});
