import type { Issue } from "../../errors/issue.ts";
import type { Json } from "../../values/json.ts";
import type { WorkflowDefinition } from "../definition.ts";

/** A workflow while it is repaired. */
interface Parts {
  id?: unknown;
  nodes: Record<string, unknown>[];
  /** Null in the place of an edge that was removed, so that the others keep their places. */
  edges?: (object | null)[];
  readonly workflows?: Readonly<Record<string, Parts>>;
  [member: string]: unknown;
}

/**
 * Returns a copy of a definition without the parts that these errors are about, so that the other parts can be checked too, and all
 * mistakes are told at once. Nodes keep their places, so pointers into the copy are right. Null if too little is left.
 */
export function repaired(definition: Json, errors: readonly Issue[]): WorkflowDefinition | null {
  const copy = JSON.parse(JSON.stringify(definition)) as Parts;
  if (!errors.every(({ pointer }) => remove(copy, pointer.split("/").slice(1)))) return null;
  complete(copy);
  return copy as unknown as WorkflowDefinition;
}

/** Removes the part that an error is about. Returns false if it is about a whole workflow, or about its nodes or edges as a whole. */
function remove(workflow: Parts, [member, name, ...inside]: readonly string[]): boolean {
  if (member === undefined) return false;
  if (member === "workflows") return inside.length > 0 && remove(workflow.workflows![name!]!, inside);
  if (member === "nodes" || (member === "edges" && workflow.edges)) {
    if (name === undefined) return false;
    if (member === "edges") workflow.edges![Number(name)] = null;
    else workflow.nodes[Number(name)] = withoutMember(workflow.nodes[Number(name)]!, inside[0]);
  } else delete workflow[member];
  return true;
}

function withoutMember(node: Record<string, unknown>, member: string | undefined): Record<string, unknown> {
  // an id that is not a valid one can still be the end of edges
  if (member === "id") return node;
  return member === undefined ? {} : Object.fromEntries(Object.entries(node).filter(([key]) => key !== member));
}

/** Gives every node an id of its own and a type, and takes out the edges that were removed. */
function complete(workflow: Parts): void {
  const ids = new Set<unknown>();
  workflow.id ??= "?";
  workflow.nodes = workflow.nodes.map((node, i) => {
    const id = typeof node.id === "string" && !ids.has(node.id) ? node.id : `?${i}`;
    ids.add(id);
    return { type: "?", ...node, id };
  });
  workflow.edges = (workflow.edges ?? []).filter((edge) => edge !== null);
  for (const inner of Object.values(workflow.workflows ?? {})) complete(inner);
}
