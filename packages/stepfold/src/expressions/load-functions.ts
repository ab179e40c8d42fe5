import { mustLoadExtraFunctions, provideExtraFunctions } from "./functions/extra-functions.ts";

/**
 * Loads the functions whose code is not a part of the language itself: regular expressions, hashes, base64, random values, the
 * functions of time of JavaScript and Luxon, and the functions of n8n. An engine loads them itself if a workflow names one. Code that
 * compiles expressions without an engine must await this once before it evaluates them.
 *
 * ```ts
 * import { compileExpression, loadFunctions } from "stepfold/expressions";
 *
 * await loadFunctions();
 * console.log(compileExpression("base64.encode(input.name)").evaluate({ input: { name: "Ada" } })); // QWRh
 * ```
 */
export async function loadFunctions(): Promise<void> {
  const { allExtraFunctions } = await import("./extra/all-extra-functions.ts");
  provideExtraFunctions(allExtraFunctions);
}

let pending: Promise<void> | null = null;

/** Returns a promise to await before expressions are evaluated, or null if no function has to be loaded. */
export function missingFunctions(): Promise<void> | null {
  if (!mustLoadExtraFunctions()) return null;
  pending ??= loadFunctions().finally(() => {
    pending = null;
  });
  return pending;
}
