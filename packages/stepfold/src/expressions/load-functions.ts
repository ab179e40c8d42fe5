import { lacksExtraFunctions, provideExtraFunctions } from "./functions/extra-functions.ts";

/**
 * Loads the functions that are apart from the language: regular expressions, hashes, base64, chance, and the words of n8n. An engine
 * does so by itself where a workflow names one; who compiles expressions without an engine awaits this once before evaluating them.
 *
 * ```ts
 * await loadFunctions();
 * compileExpression("hash.sha256(input.name)").evaluate({ input: { name: "Ada" } });
 * ```
 */
export async function loadFunctions(): Promise<void> {
  const { allExtraFunctions } = await import("./extra/all-extra-functions.ts");
  provideExtraFunctions(allExtraFunctions);
}

let pending: Promise<void> | null = null;

/** What is to be awaited before expressions are evaluated; null if nothing is. */
export function missingFunctions(): Promise<void> | null {
  if (!lacksExtraFunctions()) return null;
  pending ??= loadFunctions();
  return pending;
}
