import type { WorkflowDefinition } from "../../core/definition/definition.ts";

/**
 * A workflow written in TypeScript, checked by the editor while you type. It is the same JSON.
 *
 * ```ts
 * const hello = defineWorkflow({ id: "hello", nodes: [{ id: "greet", type: "set", data: { text: "hi" } }], edges: [] });
 * ```
 */
export function defineWorkflow<const W extends WorkflowDefinition>(definition: W): W {
  return definition;
}
