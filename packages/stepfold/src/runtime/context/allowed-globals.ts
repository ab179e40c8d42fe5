import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/** Names of globals, by the id of the workflow that may read them. The key `"*"` is for all other workflows. */
export type GlobalsFor = Readonly<Record<string, readonly string[]>>;

/** @throws StepfoldError `OPTION_INVALID` */
export function checkGlobalsFor(given: unknown): void {
  const isList = (names: unknown): boolean => Array.isArray(names) && names.every((name) => typeof name === "string");
  if (given === undefined || (typeof given === "object" && given !== null && Object.values(given).every(isList))) return;
  throw new StepfoldError("OPTION_INVALID", {
    option: "globalsFor",
    reason: 'must map ids of workflows to lists of names of globals, such as { billing: ["stripe"] }',
  });
}

/**
 * Returns the names of globals that a workflow may read; null: all. Without the option `globalsFor` every workflow may read all.
 *
 * @param isUnnamed true for a definition without a name in the runtime: it may read the globals of `"*"`, or none if there is no `"*"`
 */
export function globalNamesOf(globalsFor: GlobalsFor | undefined, id: string, isUnnamed: boolean): readonly string[] | null {
  if (!globalsFor) return null;
  const named = !isUnnamed && Object.hasOwn(globalsFor, id) ? globalsFor[id] : undefined;
  const others = Object.hasOwn(globalsFor, "*") ? globalsFor["*"] : undefined;
  return named ?? others ?? (isUnnamed ? [] : null);
}

/** Returns the globals with these names only; all globals if `names` is null. */
export function allowedGlobals(globals: unknown, names: readonly string[] | null): unknown {
  if (names === null || typeof globals !== "object" || globals === null) return globals;
  return Object.fromEntries(names.filter((name) => name in globals).map((name) => [name, (globals as Record<string, unknown>)[name]]));
}
