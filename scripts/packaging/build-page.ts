import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { root } from "../public-entries.ts";

const folder = `${root}/packages/studio`;

/** What the page is made of: its own sources, and the built library. */
const sources: readonly string[] = ["index.html", "package.json", "vite.config.ts", "src", "../stepfold/dist"];

/** Builds the page of Studio into `dist/app` of its package, unless nothing has changed since the last time. */
export async function buildPage(): Promise<void> {
  const built = `${folder}/dist/app/index.html`;
  if (existsSync(built) && newestMs(sources.map((path) => join(folder, path))) < statSync(built).mtimeMs) return;
  await build({ root: folder, configFile: `${folder}/vite.config.ts`, logLevel: "warn" });
}

/** Returns when one of these files, or a file in one of these folders, was last written. */
function newestMs(paths: readonly string[]): number {
  const files = paths.flatMap((path) => (statSync(path).isDirectory() ? filesIn(path) : [path]));
  return Math.max(...files.map((path) => statSync(path).mtimeMs));
}

function filesIn(path: string): string[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  // the compiler writes its notes at each build
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tsbuildinfo"))
    .map(({ parentPath, name }) => join(parentPath, name));
}
