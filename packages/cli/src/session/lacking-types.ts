import type { Snapshot, WorkflowDefinition } from "stepfold";
import type { LoadedConfig } from "../config/config.ts";
import type { Store } from "../store/database.ts";
import { nodeDefinitionsOf } from "./session.ts";

/** Returns the node types of an execution that neither the config nor the library has. A process that lacks one leaves it to workers. */
export async function lackingTypes(
  store: Pick<Store, "getDefinition">,
  { definition }: Pick<Snapshot, "definition">,
  config: LoadedConfig,
): Promise<string[]> {
  const stored = await store.getDefinition(definition.hash);
  const known = nodeDefinitionsOf(config);
  return stored ? [...typesIn(stored)].filter((type) => !Object.hasOwn(known, type)).sort() : [];
}

/** The types of all nodes of a definition, of their compensations and of the workflows inside it. */
function typesIn({ nodes, workflows = {} }: WorkflowDefinition): Set<string> {
  const inside = Object.values(workflows).flatMap((workflow) => [...typesIn(workflow)]);
  return new Set([...nodes.flatMap(({ type, compensate }) => [type, ...(compensate ? [compensate.type] : [])]), ...inside]);
}
