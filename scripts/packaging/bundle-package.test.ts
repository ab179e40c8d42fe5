import { readFileSync } from "node:fs";
import { type OutputChunk, rolldown } from "rolldown";
import { parseSync } from "rolldown/utils";
import { describe, expect, it } from "vitest";
import { layerOf } from "../architecture/layers.ts";
import { library, publicEntries } from "../public-entries.ts";
import { bundledPackages, bundlePackage } from "./bundle-package.ts";
import { markPure } from "./mark-pure.ts";

const files = await bundlePackage(bundledPackages[0]!);
const chunks = new Map(files.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])));
const entries = publicEntries().map(({ name, code, source }) => {
  return {
    name,
    chunk: chunks.get(code.slice("./dist/".length))!,
    source,
    onNode: layerOf(source.slice("./src/".length))?.layer.node === true,
  };
});

/**
 * Returns every file that is loaded with a chunk, and the packages that these files import.
 * @param isAtOnce true: without files that dynamic imports load later
 */
function reached(chunk: OutputChunk, isAtOnce = false, seen: Set<string> = new Set()): Set<string> {
  for (const path of isAtOnce ? chunk.imports : [...chunk.imports, ...chunk.dynamicImports]) {
    if (seen.has(path)) continue;
    seen.add(path);
    const next = chunks.get(path);
    if (next) reached(next, isAtOnce, seen);
  }
  return seen;
}

describe("what is published", () => {
  it.each(entries.filter(({ onNode }) => !onNode))("$name runs without Node: nothing that it reaches imports a node: module", ({
    chunk,
  }) => {
    expect([...reached(chunk)].filter((path) => path.startsWith("node:"))).toEqual([]);
  });

  it("loads what tests need only for those who import it", () => {
    const forTests = entries.filter(({ chunk }) =>
      [...reached(chunk)].some((path) => chunks.get(path)?.moduleIds.some((id) => id.includes("/src/testing/"))),
    );
    expect(forTests.map(({ name }) => name)).toEqual(["stepfold/testing", "stepfold/testing/vitest"]);
  });

  it("sees node: modules where they are", () => {
    const sqlite = entries.find(({ name }) => name === "stepfold/stores/sqlite")!;
    expect([...reached(sqlite.chunk)]).toContain("node:sqlite");
  });

  it.each(entries)("$name exports the names of its source, and no other", ({ chunk, source }) => {
    const { staticExports } = parseSync(source, readFileSync(`${library}/${source.slice(2)}`, "utf8")).module;
    const values = staticExports.flatMap((one) => one.entries).filter(({ isType }) => !isType);
    expect(chunk.exports.toSorted()).toEqual(values.map(({ exportName }) => exportName.name).toSorted());
  });

  it("has every part in one chunk, alone or in that of the part it is published in, so that an entry loads a few files", () => {
    const main = entries.find(({ name }) => name === "stepfold")!;
    const own = [...reached(main.chunk, true)].filter((path) => chunks.has(path));
    expect(own.length).toBeLessThanOrEqual(4);
    expect(own).not.toContain("chunks/all-extra-functions.js");
    expect([...reached(main.chunk)]).toContain("chunks/all-extra-functions.js");
    for (const chunk of chunks.values()) {
      const parts = chunk.moduleIds
        .map((id) => /\/src\/(.*)$/.exec(id.replaceAll("\\", "/"))?.[1] ?? "")
        .map((path) => layerOf(path))
        .map((found) => found?.layer.publishedIn ?? found?.part);
      expect(new Set(parts).size).toBe(1);
    }
  });
});

describe("markPure", () => {
  it("lets the bundler of a user leave out the constants of modules that are not used", async () => {
    const module =
      "export const used = 1;\nconst made = new Map(list(2));\nexport const other = list(made);\nfunction list(size) { return globalThis.fill(size); }\n";
    expect(await bundleOf("export { used } from 'module.ts';", module)).not.toContain("fill");
  });

  it("keeps what a module does when it is loaded", async () => {
    expect(await bundleOf("export { used } from 'module.ts';", "export const used = 1;\nglobalThis.begin();\n")).toContain("begin()");
  });
});

async function bundleOf(entry: string, module: string): Promise<string> {
  const code: Readonly<Record<string, string>> = { "entry.ts": entry, "module.ts": module };
  const load = { name: "load", resolveId: (id: string) => id, load: (id: string) => code[id] ?? null };
  const bundle = await rolldown({ input: "entry.ts", plugins: [load, markPure] });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  return output[0].code;
}
