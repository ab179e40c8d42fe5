import { canonicalJson } from "../values/canonical-json.ts";
import type { Json, JsonObject } from "../values/json.ts";
import { sha256 } from "../values/sha256.ts";
import { type Edge, type Node, nodeMembers, type WorkflowDefinition } from "./definition.ts";

/**
 * Identity of a definition: equal for definitions that run alike.
 *
 * Covers what the engine acts on, names of nodes too: expressions find nodes by them. The name and description of a workflow, version labels, metadata and keys the engine does not
 * know (positions, colours) may change without changing it; so may the order of object keys.
 */
export function definitionHash(definition: WorkflowDefinition): string {
  return sha256(canonicalJson(identity(definition)));
}

function identity(definition: WorkflowDefinition): Json {
  const { id, input, output, start, nodes, edges, onFailure, incident, timeout, concurrency, rateLimit, variables, workflows } = definition;
  const inner = workflows && Object.fromEntries(Object.entries(workflows).map(([name, workflow]) => [name, identity(workflow)]));
  return present({
    id,
    input,
    output,
    start,
    finally: definition.finally,
    nodes: nodes.map(ofNode),
    edges: edges.map(ofEdge),
    onFailure,
    incident,
    timeout,
    concurrency: concurrency && present({ key: concurrency.key, limit: concurrency.limit }),
    rateLimit: rateLimit && present({ limit: rateLimit.limit, period: rateLimit.period, key: rateLimit.key }),
    variables:
      variables &&
      Object.fromEntries(Object.entries(variables).map(([name, { initial, reducer }]) => [name, present({ initial, reducer })])),
    workflows: inner,
  });
}

function ofNode(node: Node): Json {
  const members: Record<string, Json> = {};
  for (const member of nodeMembers) if (node[member] !== undefined) members[member] = node[member] as Json;
  return members;
}

function ofEdge({ id, source, target, sourceHandle }: Edge): Json {
  return present({ id, source, target, sourceHandle: sourceHandle || undefined });
}

function present(members: Record<string, Json | undefined>): JsonObject {
  const there: Record<string, Json> = {};
  for (const name of Object.keys(members)) if (members[name] !== undefined) there[name] = members[name];
  return there;
}
