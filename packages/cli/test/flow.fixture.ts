import { type Event, type Snapshot, WorkflowEngine } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** A node as tests write it: its type, or its type and its data. */
export type Brief = string | readonly [type: string, data: object];

/** Makes a workflow definition from short texts; an edge is `a>b` or `a>b@handle`. */
export function flow(id: string, nodes: Readonly<Record<string, Brief>>, edges: readonly string[] = [], more: object = {}): object {
  return {
    id,
    nodes: Object.entries(nodes).map(([nodeId, brief]) =>
      typeof brief === "string" ? { id: nodeId, type: brief } : { id: nodeId, type: brief[0], data: brief[1] },
    ),
    edges: edges.map((edge) => {
      const [, source, target, sourceHandle = null] = /^(.+)>([^@]+)(?:@(.+))?$/.exec(edge)!;
      return { source, target, sourceHandle };
    }),
    ...more,
  };
}

/** The engine of a workflow with the built-in node types. */
export function engineOf(workflow: object): WorkflowEngine<typeof builtinNodes> {
  return new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes });
}

/** Returns every event from the start to the first pause, with the snapshot after it. */
export async function played(
  engine: WorkflowEngine<typeof builtinNodes>,
  input: unknown = null,
): Promise<{ event: Event; snapshot: Snapshot }[]> {
  const told: { event: Event; snapshot: Snapshot }[] = [];
  for await (const { event, snapshot } of engine.stream({ input, workflowId: "one" })) told.push({ event, snapshot });
  return told;
}
