import type { editorEdgeKeys, editorNodeKeys, editorWorkflowKeys } from "../../core/definition/check-keys.ts";
import type {
  Compensation,
  Concurrency,
  Edge,
  Node,
  RateLimit,
  RetryPolicy,
  WorkflowDefinition,
} from "../../core/definition/definition.ts";

/** A value whose keys are all known: any other one may have no value. */
type Known<T, Keys> = { readonly [K in keyof T]: K extends Keys ? T[K] : never };

type KnownCompensation<C> = {
  readonly [K in keyof C]: K extends "retryPolicy" ? Known<C[K], keyof RetryPolicy> : K extends keyof Compensation ? C[K] : never;
};

type KnownNode<N> = {
  readonly [K in keyof N]: K extends "retryPolicy"
    ? Known<N[K], keyof RetryPolicy>
    : K extends "compensate"
      ? KnownCompensation<N[K]>
      : K extends keyof Node | (typeof editorNodeKeys)[number]
        ? N[K]
        : never;
};

type KnownNodes<L> = { readonly [I in keyof L]: KnownNode<L[I]> };
type KnownEdges<L> = { readonly [I in keyof L]: Known<L[I], keyof Edge | (typeof editorEdgeKeys)[number]> };

/** A definition without keys that nobody reads, also in its nodes, edges, policies and workflows. Those of React Flow are let be. */
export type KnownWorkflow<W> = {
  readonly [K in keyof W]: K extends "nodes"
    ? KnownNodes<W[K]>
    : K extends "edges"
      ? KnownEdges<W[K]>
      : K extends "concurrency"
        ? Known<W[K], keyof Concurrency>
        : K extends "rateLimit"
          ? Known<W[K], keyof RateLimit>
          : K extends "workflows"
            ? { readonly [Name in keyof W[K]]: KnownWorkflow<W[K][Name]> }
            : K extends keyof WorkflowDefinition | (typeof editorWorkflowKeys)[number]
              ? W[K]
              : never;
};

/**
 * A workflow written in TypeScript, checked by the editor while you type: also for keys that nobody reads. It is the same JSON.
 *
 * ```ts
 * const hello = defineWorkflow({ id: "hello", nodes: [{ id: "greet", type: "set", data: { text: "hi" } }], edges: [] });
 * ```
 */
export function defineWorkflow<const W extends WorkflowDefinition>(definition: W & KnownWorkflow<W>): W {
  return definition;
}
