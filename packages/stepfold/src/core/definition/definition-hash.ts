import { canonicalJson } from "../values/canonical-json.ts";
import { sha256 } from "../values/hash/sha256.ts";
import type { Json, JsonObject } from "../values/json.ts";
import { type Edge, type Node, nodeMembers, type WorkflowDefinition } from "./definition.ts";

/**
 * Returns the identity of a definition, which is equal for definitions that run in the same way.
 *
 * The hash covers everything that the engine uses, also the names of nodes, because expressions find nodes by them. It does not depend on
 * the name and description of a workflow, version labels, metadata, `needs`, keys of workflows, nodes and edges that the engine does not
 * know (positions, colours), or the order of object keys.
 */
export function definitionHash(definition: WorkflowDefinition): string {
  return sha256(canonicalJson(identity(definition)));
}

function identity(definition: WorkflowDefinition): Json {
  const { id, input, output, start, nodes, edges, onFailure, incident, timeout, concurrency, rateLimit, variables, workflows } = definition;
  const inner = workflows && Object.fromEntries(Object.entries(workflows).map(([name, workflow]) => [name, identity(workflow)]));
  return present({
    id,
    // a definition is JSON, which was checked before
    input: input as Json | undefined,
    output,
    start,
    finally: definition.finally,
    code: definition.code,
    nodes: nodes.map(ofNode),
    edges: edges.map(ofEdge),
    onFailure,
    incident,
    timeout,
    concurrency: concurrency && present({ key: concurrency.key, limit: concurrency.limit }),
    rateLimit: rateLimit && present({ limit: rateLimit.limit, period: rateLimit.period, key: rateLimit.key }),
    taskQueue: definition.taskQueue,
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
