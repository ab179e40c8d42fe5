import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository, without a slash at the end. */
export const root: string = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** The folder of the library. */
export const library: string = `${root}/packages/stepfold`;

/** Something users import: `stepfold/stores/sqlite`. */
export interface PublicEntry {
  /** As users write it. */
  readonly name: string;
  /** Below `packages/stepfold`: `./dist/stores/sqlite/index.js`. */
  readonly code: string;
  /** Below `packages/stepfold`: `./dist/stores/sqlite/index.d.ts`. */
  readonly types: string;
  /** Below `packages/stepfold`: `./src/stores/sqlite/index.ts`. */
  readonly source: string;
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
}

/** What the library's package.json exports, without its package.json. */
export function publicEntries(): PublicEntry[] {
  const { exports } = JSON.parse(readFileSync(`${library}/package.json`, "utf8")) as Manifest;
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === "string") return [];
    const source = target.default.replace("/dist/", "/src/").replace(/\.js$/, ".ts");
    return [{ name: `stepfold${path.slice(1)}`, code: target.default, types: target.types, source }];
  });
}
