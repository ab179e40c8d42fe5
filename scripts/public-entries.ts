import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The root folder of the repository, without a slash at the end. */
export const root: string = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** The folder of the library. */
export const library: string = `${root}/packages/stepfold`;

/** A module that users import, such as `stepfold/stores/sqlite`. */
export interface PublicEntry {
  /** The name that users import. */
  readonly name: string;
  /** The path of the code below `packages/stepfold`: `./dist/stores/sqlite/index.js`. */
  readonly code: string;
  /** The path of the declarations below `packages/stepfold`: `./dist/stores/sqlite/index.d.ts`. */
  readonly types: string;
  /** The path of the source below `packages/stepfold`: `./src/stores/sqlite/index.ts`. */
  readonly source: string;
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
}

/** Returns the entries that the library's package.json exports, without package.json itself. */
export function publicEntries(): PublicEntry[] {
  const { exports } = JSON.parse(readFileSync(`${library}/package.json`, "utf8")) as Manifest;
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === "string") return [];
    const source = target.default.replace("/dist/", "/src/").replace(/\.js$/, ".ts");
    return [{ name: `stepfold${path.slice(1)}`, code: target.default, types: target.types, source }];
  });
}
