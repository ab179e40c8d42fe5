import { defaultLimits, type Limits } from "../../values/limits.ts";
import { WorkBudget } from "../../values/work-budget.ts";
import type { DefinitionReport } from "../definition-report.ts";
import type { ExpressionLanguage, TemplateBounds } from "../template.ts";

/**
 * The most work for one definition: nodes, edges and words of node sets that are looked at, mostly in the search for the paths that joins
 * may wait for, and letters of names that are compared. It takes about 50 ms.
 */
export const maxWork = 10_000_000;

/** The same for a definition that was accepted before, perhaps by a version that did not count the work. It takes about 2 s. */
export const maxStoredWork = 500_000_000;

/** The most parts of all expressions of one definition: names, values, signs. Reading them takes about half a second. */
export const maxParts = 500_000;

/** The same for a definition that was accepted before, perhaps by a version that did not count the parts. */
export const maxStoredParts = 25_000_000;

/** Returns the limits for the JSON of a definition that a caller passes in: more keys than other values, and `definitionBytes`. */
export function handedLimits(limits: Limits): Limits {
  return { ...limits, keys: limits.keys * 10, valueBytes: limits.definitionBytes };
}

/** Returns the limits for the JSON of a stored definition, so that it still loads after limits became lower. Only `depth` counts. */
export function storedLimits(limits: Limits): Limits {
  const most = Number.POSITIVE_INFINITY;
  return { ...limits, depth: Math.max(limits.depth, defaultLimits.depth), keys: most, valueBytes: most, stringLength: most };
}

/** Replaces the limits of a definition that was accepted before. */
export const unlimitedParts: Pick<Limits, "nodes" | "edges" | "variables" | "workflows"> = {
  nodes: Number.POSITIVE_INFINITY,
  edges: Number.POSITIVE_INFINITY,
  variables: Number.POSITIVE_INFINITY,
  workflows: Number.POSITIVE_INFINITY,
};

/** Returns the language with the bounds of one compilation. With too many mistakes, or too many parts, no further expression is read. */
export function boundedLanguage(
  language: ExpressionLanguage,
  { expressionSteps: steps, issues }: Limits,
  report: DefinitionReport,
  reading: WorkBudget = new WorkBudget(maxParts),
): ExpressionLanguage {
  const bounds: TemplateBounds = { steps, issues, read: (parts) => report.errorCount <= issues && reading.spend(parts) };
  return { ...language, compileTemplate: (value, pointer, names) => language.compileTemplate(value, pointer, names, bounds) };
}
