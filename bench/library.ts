import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The entries of the library that benches use, by their names in `exports` of its package.json. */
interface Entries {
  readonly ".": typeof import("stepfold");
  readonly "./runtime": typeof import("stepfold/runtime");
  readonly "./testing": typeof import("stepfold/testing");
  readonly "./stores/dynamo": typeof import("stepfold/stores/dynamo");
  readonly "./stores/from-url": typeof import("stepfold/stores/from-url");
  readonly "./stores/libsql": typeof import("stepfold/stores/libsql");
  readonly "./stores/mongo": typeof import("stepfold/stores/mongo");
  readonly "./stores/mysql": typeof import("stepfold/stores/mysql");
  readonly "./stores/postgres": typeof import("stepfold/stores/postgres");
  readonly "./stores/redis": typeof import("stepfold/stores/redis");
  readonly "./stores/sqlite": typeof import("stepfold/stores/sqlite");
  readonly "./stores/upstash": typeof import("stepfold/stores/upstash");
}

/** Imports an entry of one version of the library: `library("./runtime")`. */
export type Library = <E extends keyof Entries>(entry: E) => Promise<Entries[E]>;

/** The folder of this checkout. */
export const ownCheckout: string = resolve(import.meta.dirname, "..");

/** Returns the library of a checkout, from the files that its package.json names. The types of this version are assumed. */
export function libraryOf(checkout: string): Library {
  const folder = join(checkout, "packages/stepfold");
  return async <E extends keyof Entries>(entry: E) => {
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      exports: Readonly<Record<string, { readonly default: string }>>;
    };
    return (await import(pathToFileURL(join(folder, exports[entry]!.default)).href)) as Entries[E];
  };
}
