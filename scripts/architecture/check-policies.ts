import { targetOf } from "./check-imports.ts";
import type { Policy } from "./policies.ts";
import type { SourceFile } from "./source-file.ts";
import type { Violation } from "./violation.ts";

const stores = "packages/stepfold/src/stores/";

/**
 * Checks every policy against the files that decide it: the code of each of these files matches the policy's sign, and no other file of
 * the stores does. Comments do not count.
 */
export function checkPolicies(files: readonly SourceFile[], policies: readonly Policy[]): Violation[] {
  const judged = files.filter(({ path }) => path.startsWith(stores)).map(({ path, code }) => ({ name: path.slice(stores.length), code }));
  return policies.flatMap(({ rule, sign, files: homes, mayBeFast }) => {
    const found = judged.filter(({ code }) => sign.test(code)).map(({ name }) => name);
    const isAllowed = (name: string): boolean => homes.includes(name) || (mayBeFast === true && /^databases\/.*-fast\.ts$/.test(name));
    return [
      ...found.filter((name) => !isAllowed(name)).map((name) => violation(name, `decides what is not its to decide: ${rule}`)),
      ...homes.filter((name) => !found.includes(name)).map((name) => violation(name, `no longer shows the sign of a policy: ${rule}`)),
    ];
  });
}

/** Checks that databases do not import the files in which the kit decides. */
export function checkKitImports(files: readonly SourceFile[], inside: readonly string[]): Violation[] {
  const closed = new Set(inside.map((name) => `${stores}kit/${name}`));
  const missing = inside.filter((name) => !files.some(({ path }) => path === `${stores}kit/${name}`));
  return [
    ...missing.map((name) => violation(`kit/${name}`, "is listed as a file of the kit and is none: remove it")),
    ...files
      .filter(({ path }) => path.startsWith(`${stores}databases/`))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ specifier }) => closed.has(targetOf(path, specifier) ?? ""))
          .map(({ specifier, line }) => ({ rule: "policies", path, line, message: `${specifier} is for the kit alone` })),
      ),
  ];
}

function violation(name: string, message: string): Violation {
  return { rule: "policies", path: `${stores}${name}`, message };
}
