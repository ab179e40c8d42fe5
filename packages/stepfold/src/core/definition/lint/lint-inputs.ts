import { isJsonObject, type Json, type JsonObject } from "../../values/json.ts";
import { pointerOf } from "../../values/pointer.ts";
import type { WorkBudget } from "../../values/work-budget.ts";
import type { WorkflowDefinition } from "../definition.ts";
import type { DefinitionReport } from "../definition-report.ts";
import type { TemplateUse } from "./lint-reads.ts";

/** Warns about expressions that read a member of `input` which the input schema refuses (`additionalProperties: false`), so that it is never there. */
export function lintInputs({ input }: WorkflowDefinition, uses: readonly TemplateUse[], report: DefinitionReport, work: WorkBudget): void {
  if (!isJsonObject(input)) return;
  for (const { pointer, reads } of uses) {
    const warned = new Set<string>();
    for (const [root, ...members] of reads) {
      const unknown = root === "input" && work.spend(members.length) ? unknownMember(input, members) : null;
      if (!unknown || warned.has(unknown.path)) continue;
      warned.add(unknown.path);
      const meant = report.suggestion(unknown.name, unknown.known);
      report.warn("INPUT_UNKNOWN", pointer, `reads ${unknown.path}, which the input schema does not allow${meant}`);
    }
  }
}

/** Returns the first member on a way through a schema that a closed object of it lacks; null if there is none. */
function unknownMember(
  input: Json,
  members: readonly string[],
): { readonly path: string; readonly name: string; readonly known: readonly string[] } | null {
  let schema: Json | undefined = input;
  for (const [depth, name] of members.entries()) {
    if (!isJsonObject(schema) || schema.type !== "object" || name === "*") return null;
    const { properties = {}, patternProperties, additionalProperties }: JsonObject = schema;
    if (!isJsonObject(properties) || patternProperties !== undefined) return null;
    if (!Object.hasOwn(properties, name)) {
      if (additionalProperties !== false) return null;
      return { path: `input${pointerOf(members.slice(0, depth + 1)).replaceAll("/", ".")}`, name, known: Object.keys(properties) };
    }
    schema = properties[name];
  }
  return null;
}
