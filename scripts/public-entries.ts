import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The root folder of the repository, without a slash at the end. */
export const root: string = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** The folder of the library. */
export const library: string = `${root}/packages/stepfold`;

/** The folders of all packages whose entries the reports of the API show. */
export const reportedPackages: readonly string[] = [library, `${root}/packages/server`, `${root}/packages/studio`];

/** A module that users import, such as `stepfold/stores/sqlite`. */
export interface PublicEntry {
  /** The name that users import. */
  readonly name: string;
  /** The path of the code below the folder of its package: `./dist/stores/sqlite/index.js`. */
  readonly code: string;
  /** The path of the declarations there: `./dist/stores/sqlite/index.d.ts`. */
  readonly types: string;
  /** The path of the source there: `./src/stores/sqlite/index.ts`. */
  readonly source: string;
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
}

/** Returns the entries that the package.json of a package exports, without package.json itself. Default: those of the library. */
export function publicEntries(folder: string = library): PublicEntry[] {
  const { name, exports } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as Manifest;
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === "string") return [];
    const source = target.default.replace("/dist/", "/src/").replace(/\.js$/, ".ts");
    return [{ name: `${name}${path.slice(1)}`, code: target.default, types: target.types, source }];
  });
}
