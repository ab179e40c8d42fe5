import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import type { Json, JsonSchema } from "../../core/values/json.ts";
import { compilePattern, type Pattern } from "../../expressions/pattern/pattern.ts";
import { type CheckBudget, CheckRun } from "./check-run.ts";
import type { Building, Keyword } from "./keyword.ts";
import { isWatching, logicKeywords } from "./logic-keywords.ts";
import { isSchema, type OpenResource, SchemaReader } from "./schema-reader.ts";
import { lastKeywords, structureKeywords } from "./structure-keywords.ts";
import { valueKeywords } from "./value-keywords.ts";

/** A JSON Schema made ready. */
export interface CompiledSchema {
  /** What is wrong with the schema itself; nothing can be checked against it then. */
  readonly mistakes: readonly SchemaIssue[];
  /**
   * What is wrong with a value; empty if it fits.
   *
   * @throws StepfoldError `LIMIT_EXCEEDED` if that takes more work than is allowed
   */
  check(value: Json, budget: CheckBudget): readonly SchemaIssue[];
}

const keywords: readonly (readonly [string, Keyword])[] = [valueKeywords, structureKeywords, logicKeywords, lastKeywords].flatMap((some) =>
  Object.entries(some),
);

/** Steps of all patterns of one schema. */
const maxPatternSteps = 50_000;
/** Mistakes that are listed of one schema. */
const maxMistakes = 100;

/**
 * Makes a JSON Schema ready, read as draft 2020-12, in time that grows with its size alone. Of older drafts `definitions`,
 * `dependencies` and lists in `items` are understood. References lead to places in the schema itself: nothing is fetched.
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const reader = new SchemaReader(schema);
  const patterns = new Map<string, Pattern | null>();
  let patternSteps = 0;
  let isWatched = false;
  const mistakes: SchemaIssue[] = reader.mistakes;

  const patternOf = (source: string, mistake: (message: string) => void): Pattern | null => {
    const known = patterns.get(source);
    if (known !== undefined) return known;
    const compiled = compilePattern(source);
    const pattern = compiled.mistake === undefined ? compiled.pattern : null;
    if (compiled.mistake !== undefined) mistake(compiled.mistake);
    patternSteps += pattern?.size ?? 0;
    if (patternSteps > maxPatternSteps) mistake(`is one pattern too many: together they take more than ${maxPatternSteps} steps`);
    patterns.set(source, pattern);
    return pattern;
  };

  for (const { schema: open, resource, node, pointer } of reader.open()) {
    if (patternSteps > maxPatternSteps || mistakes.length >= maxMistakes) break;
    if (typeof open === "boolean") {
      if (!open) node.checks.push((_, run, place) => run.report(place, "nothing is allowed here"));
      continue;
    }
    isWatched ||= isWatching(open);
    const building = buildingOf(open, resource, pointer, reader, patternOf);
    for (const [name, keyword] of keywords) {
      const check = open[name] === undefined ? null : keyword(open[name], building);
      if (check) node.checks.push(check);
    }
  }
  return {
    mistakes,
    check(value, budget) {
      const run = new CheckRun(isWatched, budget);
      run.evaluate(reader.root, value, null);
      return run.issues;
    },
  };
}

function buildingOf(
  schema: Building["schema"],
  resource: OpenResource,
  pointer: string,
  reader: SchemaReader,
  patternOf: (source: string, mistake: (message: string) => void) => Pattern | null,
): Building {
  const mistake = (keyword: string, message: string): void => {
    reader.mistakes.push({ pointer: `${pointer}/${keyword}`, message });
  };
  return {
    schema,
    mistake,
    // what is no schema is a mistake that is told already
    node: (inner) => reader.nodeOf(isSchema(inner) ? inner : true, resource),
    reference(keyword, reference) {
      const node = typeof reference === "string" ? reader.resolve(reference, resource) : null;
      if (!node) mistake(keyword, "leads nowhere: only what stands in the schema itself can be named");
      return node;
    },
    pattern(keyword, source) {
      if (typeof source === "string") return patternOf(source, (message) => mistake(keyword, message));
      mistake(keyword, "must be text");
      return null;
    },
  };
}
