import type { editorEdgeKeys, editorNodeKeys, editorWorkflowKeys } from "../../core/definition/compile/check-keys.ts";
import type {
  Compensation,
  Concurrency,
  Edge,
  Node,
  RateLimit,
  RetryPolicy,
  WorkflowDefinition,
} from "../../core/definition/definition.ts";

/** The type T in which every key that is not in `Keys` has the type `never`, so that the compiler refuses it. */
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

/** A definition without unknown keys, also in its nodes, edges, policies and workflows. The keys of React Flow are allowed. */
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
 * Returns the workflow definition that it is given. The compiler checks it while you type, and also finds unknown keys.
 *
 * ```ts
 * const hello = defineWorkflow({ id: "hello", nodes: [{ id: "greet", type: "set", data: { text: "hi" } }], edges: [] });
 * ```
 */
export function defineWorkflow<const W extends WorkflowDefinition>(definition: W & KnownWorkflow<W>): W {
  return definition;
}
