import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../src/core/values/json.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { VirtualEnvironment } from "../engine/virtual-environment.fixture.ts";

/** A node of a test's workflow: its type, or its type and data. */
export type Step = string | readonly [type: string, data: Json];

/** A workflow of these nodes; edges as `"a>b"`, `"a>b@handle"`. */
export function flow(id: string, steps: Readonly<Record<string, Step>>, edges: readonly string[] = [], more: object = {}): object {
  return {
    id,
    nodes: Object.entries(steps).map(([name, step]) =>
      typeof step === "string" ? { id: name, type: step } : { id: name, type: step[0], data: step[1] },
    ),
    edges: edges.map((edge) => {
      const [way, sourceHandle] = edge.split("@") as [string, string?];
      const [source, target] = way.split(">");
      return sourceHandle === undefined ? { source, target } : { source, target, sourceHandle };
    }),
    ...more,
  };
}

/** Returns an engine of the workflow on a virtual clock, and the clock. */
export function bench(
  workflow: object,
  limits = {},
): { readonly engine: WorkflowEngine<typeof builtinNodes>; readonly clock: VirtualEnvironment } {
  const clock = new VirtualEnvironment();
  return { engine: new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes, environment: clock, limits }), clock };
}

/** Returns the latest output of a node. */
export function outputOf({ context }: Snapshot, nodeId: string): Json | undefined {
  return context[nodeId]?.at(-1)?.output;
}
