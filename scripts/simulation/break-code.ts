import { registerHooks } from "node:module";
import { dayMutants } from "./days/day-mutants.ts";
import { patchedMutants } from "./patched-mutants.ts";

/** The part of a source file's URL before its path below `src`. */
const sources = "/packages/stepfold/src/";

const mutants = [...patchedMutants, ...dayMutants];

/** True if a mutant changes the code, and not a store or queue around it. */
export function changesCode(name: string): boolean {
  return mutants.some((one) => one.name === name);
}

/** Installs a hook that loads the files of a mutant with its changes. It must be called before any module of the library is loaded. */
export function breakCode(name: string): void {
  const mutant = mutants.find((one) => one.name === name);
  if (!mutant) return;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.includes(sources)) return loaded;
      const file = url.slice(url.lastIndexOf(sources) + sources.length);
      for (const patch of mutant.patches) {
        if (patch.file !== file) continue;
        const text = String(loaded.source);
        if (text.split(patch.find).length !== 2) throw new RangeError(`${name} no longer fits: ${file} should have once: ${patch.find}`);
        loaded.source = text.replace(patch.find, () => patch.put);
      }
      return loaded;
    },
  });
}
