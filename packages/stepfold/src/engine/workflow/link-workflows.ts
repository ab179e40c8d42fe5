import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isJsonObject, type JsonObject } from "../../core/values/json.ts";

/** Finds the definition of a workflow by its name; undefined if there is none. */
export type Library = (name: string) => unknown;

/**
 * Returns a library of definitions, each by its id.
 *
 * @throws StepfoldError `OPTION_INVALID` if two different definitions have the same id: only one of them would ever be found
 */
export function libraryOf(workflows: readonly unknown[]): Library {
  const known = new Map<unknown, unknown>();
  for (const workflow of workflows) {
    const id = safeMember(workflow, "id");
    if (known.has(id) && typeof id === "string" && !areSame(workflow, known.get(id)))
      throw new StepfoldError("OPTION_INVALID", { option: "workflows", reason: `has two definitions with the id "${id.slice(0, 128)}"` });
    if (!known.has(id)) known.set(id, workflow);
  }
  return (name) => known.get(name);
}

function areSame(one: unknown, other: unknown): boolean {
  try {
    return one === other || JSON.stringify(one) === JSON.stringify(other);
  } catch {
    // a circular value, or a getter that throws: compiling the definition reports it
    return false;
  }
}

/**
 * Returns a definition whose `workflows` contain every workflow that its nodes run; missing ones come from the library. An execution keeps
 * the definition that it began with, so everything that it runs must be part of that definition. A detached execution has a definition of
 * its own, so its workflow is not added.
 *
 * Only constant names are found. A workflow that an expression may name has to be in `workflows` already.
 */
export function linkWorkflows(definition: unknown, library: Library): unknown {
  try {
    return isJsonObject(definition) ? linked(definition, library) : definition;
  } catch {
    // a proxy or a getter that throws: `compile` refuses it and says where it is
    return definition;
  }
}

function linked(definition: JsonObject, library: Library): unknown {
  const own = isJsonObject(definition.workflows) ? definition.workflows : {};
  const workflows: Record<string, unknown> = { ...own };
  const has = (name: string): boolean => Object.hasOwn(workflows, name) || name === definition.id;
  const queue: unknown[] = [definition];
  // the queue grows meanwhile, because a workflow of the library may run other ones
  for (const next of queue) {
    for (const name of namesIn(next)) {
      const found = has(name) ? undefined : library(name);
      if (found === undefined) continue;
      Object.defineProperty(workflows, name, { value: found, enumerable: true, configurable: true, writable: true });
      queue.push(found);
    }
  }
  return queue.length === 1 ? definition : { ...definition, workflows };
}

/** The names of workflows that a definition runs and does not contain. */
function namesIn(definition: unknown): Set<string> {
  const names = new Set<string>();
  const nodes = safeMember(definition, "nodes");
  for (const node of Array.isArray(nodes) ? nodes : []) {
    const name = constantName(node);
    if (name !== null && safeMember(safeMember(node, "data"), "detached") !== true) names.add(name);
  }
  const inner = safeMember(definition, "workflows");
  if (!isJsonObject(inner)) return names;
  for (const workflow of Object.values(inner)) for (const name of namesIn(workflow)) names.add(name);
  for (const name of Object.keys(inner)) names.delete(name);
  return names;
}

/** The name of the workflow that a node starts as a detached execution. Null: it starts none, or an expression names it. */
export function detachedName(node: unknown): string | null {
  const isDetached = safeMember(node, "type") === "workflow" && safeMember(safeMember(node, "data"), "detached") === true;
  return isDetached ? constantName(node) : null;
}

/** The name of the workflow that a node runs. Null: it runs none, or an expression names it. */
function constantName(node: unknown): string | null {
  const type = safeMember(node, "type");
  const name = safeMember(safeMember(node, "data"), "workflow");
  return (type === "map" || type === "workflow") && typeof name === "string" && !name.includes("{{") ? name : null;
}
