/**
 * A workflow definition as the compiler sees a JSON file that was imported: every text in it, such as `backoff`, is a `string`. Whether it is a
 * definition is checked when it is used.
 *
 * ```ts
 * import order from "./order.json" with { type: "json" };
 *
 * await runtime.start(order, { input });
 * ```
 */
export interface ImportedWorkflow {
  readonly id: string;
  readonly nodes: readonly object[];
  readonly edges: readonly object[];
}

/** Refuses a definition that is written in code: its `id` is a literal, and all of it is checked as a `WorkflowDefinition`. */
export type OnlyImported<W extends ImportedWorkflow> = string extends W["id"] ? unknown : never;
