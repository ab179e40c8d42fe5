import type { Json, JsonObject } from "../../core/values/json.ts";
import type { Pattern } from "../../expressions/pattern/pattern.ts";
import type { Check, SchemaNode } from "./check-run.ts";

/** What the keywords of one schema are compiled with. */
export interface KeywordContext {
  /** The schema that has the keyword. */
  readonly schema: JsonObject;
  /** Returns the node of a subschema. For a value that is not a schema it is a node that every value fits. */
  node(schema: Json): SchemaNode;
  /** Returns the node that a reference leads to. If there is none, reports a mistake and returns null. */
  reference(keyword: string, reference: Json): SchemaNode | null;
  /** Returns a compiled pattern; null if it cannot be used. The mistake is reported once, even if other keywords have the same pattern. */
  pattern(keyword: string, source: Json): Pattern | null;
  /** Reports a mistake in the schema. */
  mistake(keyword: string, message: string): void;
}

/** Compiles a keyword that the schema has; returns null if there is nothing to check, or the keyword has a mistake. */
export type Keyword = (value: Json, context: KeywordContext) => Check | null;

export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

export function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
