import { canonicalJson } from "./canonical-json.ts";
import type { Edge, Node, WorkflowDefinition } from "./definition.ts";
import type { Json, JsonObject } from "./json.ts";
import { sha256 } from "./sha256.ts";

/**
 * Identity of a definition: equal for definitions that run alike.
 *
 * Covers what the engine acts on. Names, descriptions, version labels, metadata and keys the engine does not
 * know (positions, colours) may change without changing it; so may the order of object keys.
 */
export function definitionHash(definition: WorkflowDefinition): string {
  const { id, input, output, start } = definition;
  return sha256(
    canonicalJson(present({ id, input, output, start, nodes: definition.nodes.map(ofNode), edges: definition.edges.map(ofEdge) })),
  );
}

function ofNode({ id, type, data, retryPolicy, timeout, keep }: Node): Json {
  return present({ id, type, data, retryPolicy: retryPolicy as Json | undefined, timeout, keep });
}

function ofEdge({ id, source, target, sourceHandle }: Edge): Json {
  return present({ id, source, target, sourceHandle: sourceHandle || undefined });
}

function present(members: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((member): member is [string, Json] => member[1] !== undefined));
}
