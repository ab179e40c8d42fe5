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
import { anObject, anything, checkOptions } from "../../core/values/check-arguments.ts";
import { defaultLimits } from "../../core/values/limits.ts";
import type { Schema, SchemaInput, Schemas } from "../node/standard-schema.ts";
import { type AnyTyped, type Typed, tokensOf } from "../node/typed.ts";
import { payloadSchemaOf } from "./payload-schema.ts";

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

/** The ids of the nodes of a definition. */
type NodeIds<D extends WorkflowDefinition> = D["nodes"][number]["id"];

/** What callers give a workflow and get from it, as schemas. */
interface WorkflowSchemas<I, O, W, S, Ids> {
  /** The schema of the input. It checks the input of every `start`; as JSON Schema, it becomes the `input` of a definition that has none. */
  readonly input?: I | undefined;
  /** The schema of the output. Only for the compiler: no output is checked by it. */
  readonly output?: O | undefined;
  /** The schemas of answers, by the id of the node that waits. Only for the compiler: an answer is checked by the type of its node. */
  readonly waits?: (W & Known<W, Ids>) | undefined;
  /** The schemas of the payloads of signals, by their names. Only for the compiler: a signal is checked by the type of the node that waits for it. */
  readonly signals?: S | undefined;
}

/**
 * Returns the workflow definition that it is given. The compiler checks it while you type, and also finds unknown keys.
 *
 * ```ts
 * const hello = defineWorkflow({ id: "hello", nodes: [{ id: "greet", type: "set", data: { text: "hi" } }], edges: [] });
 * ```
 *
 * With schemas, it returns a typed workflow: then the compiler also checks what callers hand over, and knows what they get.
 *
 * ```ts
 * const order = defineWorkflow(orderJson, { input: Order, output: Receipt, waits: { approve: z.object({ approved: z.boolean() }) } });
 * const run = await runtime.start(order, { input: { items: ["tea"] } });
 * await run.resume(order.waits.approve, { approved: true });
 * const receipt = await run.result();
 * ```
 */
export function defineWorkflow<const D extends WorkflowDefinition>(definition: D & KnownWorkflow<D>): D;
export function defineWorkflow<
  const D extends WorkflowDefinition,
  I extends Schema,
  O extends Schema,
  W extends Schemas = Record<never, never>,
  S extends Schemas = Record<never, never>,
>(
  definition: D & KnownWorkflow<D>,
  schemas: WorkflowSchemas<I, O, W, S, NodeIds<D>>,
): Typed<SchemaInput<I>, SchemaInput<O>, { readonly [K in keyof W]: SchemaInput<W[K]> }, { readonly [K in keyof S]: SchemaInput<S[K]> }>;
export function defineWorkflow(
  definition: WorkflowDefinition,
  schemas?: WorkflowSchemas<Schema, Schema, Schemas, Schemas, string>,
): WorkflowDefinition | AnyTyped {
  if (schemas === undefined) return definition;
  checkOptions("defineWorkflow", schemas, { input: anything, output: anything, waits: anObject, signals: anObject });
  const { input } = schemas;
  const schema = input === undefined ? undefined : payloadSchemaOf(input, defaultLimits)?.schema;
  return {
    id: definition.id,
    definition: schema === undefined ? definition : { input: schema, ...definition },
    nodes: {},
    ...tokensOf(schemas),
    ...(input !== undefined && { "~input": input }),
  };
}
