import type { Json, JsonObject } from "../../core/values/json.ts";
import type { Pattern } from "../../expressions/pattern/pattern.ts";
import type { Check, SchemaNode } from "./check-run.ts";

/** What keywords of one schema are made ready with. */
export interface Building {
  /** The schema that the keyword stands in. */
  readonly schema: JsonObject;
  /** The node of a schema inside. */
  node(schema: Json): SchemaNode;
  /** The node that a reference leads to; null, and a mistake, if there is none. */
  reference(keyword: string, reference: Json): SchemaNode | null;
  /** A pattern; null, and a mistake, if it cannot be used. */
  pattern(keyword: string, source: Json): Pattern | null;
  /** Notes a mistake in the schema. */
  mistake(keyword: string, message: string): void;
}

/** Makes a keyword ready; null if it asks for nothing. It has been seen that the schema has the keyword. */
export type Keyword = (value: Json, building: Building) => Check | null;

export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

export function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
