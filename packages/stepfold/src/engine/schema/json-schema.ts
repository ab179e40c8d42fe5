import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import type { Json, JsonObject, JsonSchema } from "../../core/values/json.ts";
import { compilePattern, type Pattern } from "../../expressions/pattern/pattern.ts";
import { type CheckBudget, CheckRun, pointerAt } from "./check-run.ts";
import type { Keyword, KeywordContext } from "./keyword.ts";
import { logicKeywords, readsEvaluated } from "./logic-keywords.ts";
import { isSchema, type ScannedResource, SchemaReader } from "./schema-reader.ts";
import { lastKeywords, structureKeywords } from "./structure-keywords.ts";
import { valueKeywords } from "./value-keywords.ts";

/** A compiled JSON Schema. */
export interface CompiledSchema {
  /** The mistakes in the schema itself. If there are any, `check` must not be called. */
  readonly mistakes: readonly SchemaIssue[];
  /**
   * Returns the mistakes in a value; an empty list if the value fits.
   *
   * @throws StepfoldError `LIMIT_EXCEEDED` if the check takes more work than the budget has, `OPTION_INVALID` if the schema leads to
   * itself without end
   */
  check(value: Json, budget: CheckBudget): readonly SchemaIssue[];
}

/** All keywords, in the order in which they are checked: `lastKeywords` need the members and items that all others have evaluated. */
const keywords: readonly (readonly [string, Keyword])[] = [valueKeywords, structureKeywords, logicKeywords, lastKeywords].flatMap((some) =>
  Object.entries(some),
);

/** The largest size of all patterns of one schema together, in steps of their programs. */
const maxPatternSteps = 50_000;
/** The rest of a schema is not compiled after this many mistakes. */
const maxMistakes = 100;

/**
 * Compiles a JSON Schema, which is read as draft 2020-12. The time that this takes grows only with the size of the schema. From older
 * drafts, `definitions`, `dependencies`, lists in `items` (with `additionalItems`), and `$recursiveRef` as a plain `$ref` are supported. A
 * reference can only lead to a place in the same schema: nothing is loaded.
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const reader = new SchemaReader(schema as boolean | JsonObject);
  const patterns = new Map<string, Pattern | null>();
  let patternSteps = 0;
  let tracksEvaluated = false;
  const mistakes: SchemaIssue[] = reader.mistakes;

  const patternOf = (source: string, mistake: (message: string) => void): Pattern | null => {
    const known = patterns.get(source);
    // null: the pattern cannot be used, and its mistake was reported the first time
    if (known !== undefined) return known;
    const compiled = compilePattern(source);
    const pattern = compiled.mistake === undefined ? compiled.pattern : null;
    if (compiled.mistake !== undefined) mistake(compiled.mistake);
    patternSteps += pattern?.size ?? 0;
    if (patternSteps > maxPatternSteps)
      mistake(`makes the patterns of this schema too large: together they have more than ${maxPatternSteps} steps`);
    patterns.set(source, pattern);
    return pattern;
  };

  // each subschema that is in use; compiling a keyword may add further ones
  for (const { schema: pendingSchema, resource, node, pointer } of reader.pendingSchemas()) {
    if (patternSteps > maxPatternSteps || mistakes.length >= maxMistakes) break;
    if (typeof pendingSchema === "boolean") {
      if (!pendingSchema) node.checks.push((_, run, place) => run.report(place, "no value is allowed here"));
      continue;
    }
    tracksEvaluated ||= readsEvaluated(pendingSchema);
    const context = keywordContextOf(pendingSchema, resource, pointer, reader, patternOf);
    for (const [name, keyword] of keywords) {
      const check = pendingSchema[name] === undefined ? null : keyword(pendingSchema[name], context);
      if (check) node.checks.push(check);
    }
  }
  return {
    mistakes,
    check(value, budget) {
      const run = new CheckRun(tracksEvaluated, budget);
      run.evaluate(reader.root, value, null);
      return run.issues.map(({ place, message }) => ({ pointer: pointerAt(place), message }));
    },
  };
}

/** Returns what the keywords of one schema are compiled with. */
function keywordContextOf(
  schema: KeywordContext["schema"],
  resource: ScannedResource,
  pointer: () => string,
  reader: SchemaReader,
  patternOf: (source: string, mistake: (message: string) => void) => Pattern | null,
): KeywordContext {
  const mistake = (keyword: string, message: string): void => {
    reader.mistakes.push({ pointer: `${pointer()}/${keyword}`, message });
  };
  return {
    schema,
    mistake,
    // a value that is not a schema was reported before; `true`, which every value fits, takes its place
    node: (inner) => reader.nodeOf(isSchema(inner) ? inner : true, resource),
    reference(keyword, reference) {
      const node = typeof reference === "string" ? reader.resolve(reference, resource) : null;
      if (!node) mistake(keyword, "leads nowhere: a reference can only lead to a place in the same schema");
      return node;
    },
    pattern(keyword, source) {
      if (typeof source === "string") return patternOf(source, (message) => mistake(keyword, message));
      mistake(keyword, "must be text");
      return null;
    },
  };
}
