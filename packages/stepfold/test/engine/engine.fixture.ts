import type { Edge, Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import type { NodeDefinition } from "../../src/engine/node/node-definition.ts";
import type { StepContext } from "../../src/engine/node/step-context.ts";
import { type EngineOptions, WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { VirtualEnvironment } from "./virtual-environment.fixture.ts";

/** The code of a node. */
export type Executor = (data: never, step: StepContext) => unknown;

/** A node with the code that it runs: a function, or a whole node definition. */
export type Coded = Executor | (Omit<NodeDefinition<never>, "executor"> & { readonly executor: Executor });

/** Further members of the nodes in the definition, by node id. */
export type NodeParts = Readonly<Record<string, Omit<Node, "id" | "type">>>;

/** A workflow whose nodes are named in `code`, each with a type of its own; edges as `"a>b"`, `"a>b@handle"`. */
export function flowOf(code: Readonly<Record<string, Coded>>, edges: readonly string[] = [], parts: NodeParts = {}): WorkflowDefinition {
  const nodes = Object.keys(code).map((id): Node => ({ id, type: `${id}-type`, ...(Object.hasOwn(parts, id) ? parts[id] : undefined) }));
  const drawn = edges.map((text): Edge => {
    const [, source, target, sourceHandle] = /^([\w-]+)>([\w-]+)(?:@([\w-]+))?$/.exec(text)!;
    return sourceHandle === undefined ? { source: source!, target: target! } : { source: source!, target: target!, sourceHandle };
  });
  return { id: "flow", nodes, edges: drawn };
}

/** The engine of a workflow as `flowOf` makes it, on a virtual clock. */
export function engineOf(
  code: Readonly<Record<string, Coded>>,
  edges: readonly string[] = [],
  more: Partial<EngineOptions<Record<string, NodeDefinition>>> & {
    readonly parts?: NodeParts;
    readonly rest?: Partial<WorkflowDefinition>;
  } = {},
): { readonly engine: WorkflowEngine<Record<string, NodeDefinition>>; readonly clock: VirtualEnvironment } {
  const { parts, rest, ...options } = more;
  const clock = new VirtualEnvironment();
  const nodeDefinitions = Object.fromEntries(
    Object.entries(code).map(([id, coded]) => [
      `${id}-type`,
      (typeof coded === "function" ? { executor: coded } : coded) as NodeDefinition,
    ]),
  );
  const workflow = { ...flowOf(code, edges, parts), ...rest };
  return { engine: new WorkflowEngine({ workflow, nodeDefinitions, environment: clock, ...options }), clock };
}

/** An executor that returns the same each time. */
export const giving =
  (data: unknown, more: object = {}): Executor =>
  () => ({ data, ...more });

/** An executor that throws the given value, by default an error "busy". */
export const failing =
  (thrown: unknown = new Error("busy")): Executor =>
  () => {
    throw thrown;
  };

/** An executor that suspends with these arguments. When it is resumed, its output has the payload and what resumed it (`by`). */
export const asking =
  (...args: Parameters<StepContext["suspend"]>): Executor =>
  (_data, step) =>
    step.resumed ? { data: { by: step.resumed.by, payload: step.externalPayload ?? null } } : step.suspend(...args);

/** A promise with the functions that settle it. */
export function deferred<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (thrown: unknown) => void;
} {
  let resolve: (value: T) => void = () => undefined;
  let reject: (thrown: unknown) => void = () => undefined;
  const promise = new Promise<T>((ok, no) => {
    resolve = ok;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** The value after a trip through JSON, as a store would give it. */
export function viaJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
