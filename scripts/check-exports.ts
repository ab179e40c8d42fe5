// Checks package.json's exports against the folders: every public folder is exported, and every export is built.
import { existsSync, readdirSync } from "node:fs";
import { library, publicEntries } from "./public-entries.ts";

const entries = publicEntries();
const problems = [...missing(), ...forgotten(), ...stale()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${entries.length} entries: every one is built, every public folder is exported`);

function missing(): string[] {
  return entries.flatMap(({ name, source, code, types }) =>
    [source, code, types]
      .filter((path) => !existsSync(`${library}/${path}`))
      .map((path) => `${name} points to ${path}, which does not exist`),
  );
}

/** Finds public folders that are not exported. A folder with an index.ts is public. */
function forgotten(): string[] {
  const exported = new Set(entries.map(({ source }) => source));
  return filesBelow("src")
    .filter((path) => /(^|\/)index\.ts$/.test(path) && !exported.has(`./src/${path}`))
    .map((path) => `src/${path} is in no export of packages/stepfold/package.json: add it, or name the file after what is inside`);
}

/** Finds output of deleted sources, which would be published too. */
function stale(): string[] {
  const sources = new Set(
    filesBelow("src")
      .filter((path) => !/\.(test|test-d|fixture)\.ts$/.test(path))
      .map((path) => path.replace(/\.ts$/, "")),
  );
  return filesBelow("dist")
    .filter((path) => path.endsWith(".d.ts") && !sources.has(path.replace(/\.d\.ts$/, "")))
    .map((path) => `dist/${path} has no source any more: run npm run clean && npm run build`);
}

function filesBelow(folder: string): string[] {
  return readdirSync(`${library}/${folder}`, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
}
