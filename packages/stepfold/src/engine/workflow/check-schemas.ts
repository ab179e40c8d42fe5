import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { DefinitionReport } from "../../core/definition/definition-report.ts";
import type { NodeDefinitions } from "../node/node-definition.ts";
import type { Schema } from "../node/standard-schema.ts";
import { definitionOf } from "./prepared-node.ts";
import { mistakesOf } from "./validator.ts";

/** Reports mistakes in the JSON Schemas of a workflow, of the workflows in it, and of the node types that they use. */
export function checkSchemas(definition: WorkflowDefinition, nodeDefinitions: NodeDefinitions, report: DefinitionReport): void {
  const types = new Set<string>();
  checkInputs(definition, "", types, report);
  for (const type of types) {
    const nodeDefinition = definitionOf(nodeDefinitions, type);
    for (const member of ["input", "output", "resume"] as const) {
      const schema = nodeDefinition?.[member];
      if (schema !== undefined) reportMistakes(schema, `/nodeDefinitions/${type}/${member}`, report);
    }
  }
}

function checkInputs(definition: WorkflowDefinition, at: string, types: Set<string>, report: DefinitionReport): void {
  if (definition.input !== undefined) reportMistakes(definition.input, `${at}/input`, report);
  for (const { type, compensate } of definition.nodes) {
    types.add(type);
    if (compensate) types.add(compensate.type);
  }
  for (const [name, inner] of Object.entries(definition.workflows ?? {})) checkInputs(inner, `${at}/workflows/${name}`, types, report);
}

function reportMistakes(schema: Schema, at: string, report: DefinitionReport): void {
  for (const { pointer, message } of mistakesOf(schema)) report.add("SCHEMA_INVALID", at + pointer, message);
}
