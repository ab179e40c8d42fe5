import { isJsonObject } from "../values/json.ts";
import type { Node, WorkflowDefinition } from "./definition.ts";

/** A feature that definitions may use and that workers of an earlier version would silently ignore. */
export interface Feature {
  /** The name in `needs` of stored definitions. It must never change. */
  readonly name: string;
  /** Tells whether a workflow uses the feature. The workflows inside it are tested separately. */
  isUsedBy(definition: WorkflowDefinition): boolean;
}

/** All features, the oldest first. */
const features: readonly Feature[] = [
  { name: "incident", isUsedBy: ({ incident, nodes }) => incident === true || nodes.some((node) => node.incident === true) },
  { name: "variables", isUsedBy: ({ variables, nodes }) => variables !== undefined || nodes.some((node) => namesSet(node).length > 0) },
  { name: "rateLimit", isUsedBy: ({ rateLimit }) => rateLimit !== undefined },
  { name: "finally", isUsedBy: (definition) => definition.finally !== undefined },
  { name: "timeout", isUsedBy: ({ timeout }) => timeout !== undefined },
  { name: "taskQueue", isUsedBy: ({ taskQueue }) => taskQueue !== undefined },
  { name: "code", isUsedBy: ({ code }) => code !== undefined },
];

/** The names of the variables that a node of type `set` sets. */
export function namesSet({ type, data }: Node): readonly string[] {
  return type === "set" && isJsonObject(data) && isJsonObject(data.vars) ? Object.keys(data.vars) : [];
}

/** Returns the definition as it is stored: with `needs`, if it, or a workflow inside it, uses features that a worker must know. */
export function withNeeds(definition: WorkflowDefinition, known: readonly Feature[] = features): WorkflowDefinition {
  const needs = known.filter((feature) => isUsed(feature, definition)).map(({ name }) => name);
  return needs.length === 0 ? definition : { ...definition, needs };
}

/** Names of needs that this version does not know. */
export function unknownNeeds(needs: readonly string[], known: readonly Feature[] = features): readonly string[] {
  const names = new Set(known.map(({ name }) => name));
  return needs.filter((need) => !names.has(need));
}

function isUsed(feature: Feature, definition: WorkflowDefinition): boolean {
  return feature.isUsedBy(definition) || Object.values(definition.workflows ?? {}).some((inner) => isUsed(feature, inner));
}
