import { groupOf, itemOf, parentKey, within } from "./child-key.ts";
import type { CompiledWorkflow } from "./compiled.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { pointerOf } from "./pointer.ts";
import { invalid, whole } from "./read-number.ts";
import { readScope } from "./read-scope.ts";
import { type ActivePath, type ChildState, isTerminal, type Snapshot } from "./snapshot.ts";

/** The children of a snapshot from outside, and the items of its maps, checked. */
export function readChildren(
  plain: JsonObject,
  workflow: CompiledWorkflow,
  workflowId: string,
): Pick<Snapshot, "childStates" | "mapItems"> {
  const reader = new Reader(workflow, workflowId);
  const { childStates, mapItems } = plain;
  if (childStates !== undefined && !isJsonObject(childStates)) return invalid("/childStates", "must be an object of children, by key");
  if (mapItems !== undefined && !isJsonObject(mapItems)) return invalid("/mapItems", "must be an object of lists, by key");
  for (const [key, child] of Object.entries(childStates ?? {})) reader.read(key, child);
  const children = reader.children;
  const items = checkItems((plain.activePaths ?? []) as unknown as readonly ActivePath[], children, mapItems ?? {});
  return {
    ...(children.size > 0 && { childStates: Object.freeze(Object.fromEntries(children)) }),
    ...(items && { mapItems: items }),
  };
}

class Reader {
  readonly children = new Map<string, ChildState>();
  readonly #workflows = new Map<string, CompiledWorkflow>();
  readonly #workflowId: string;

  constructor(workflow: CompiledWorkflow, workflowId: string) {
    this.#workflows.set("", workflow);
    this.#workflowId = workflowId;
  }

  /** Parents come before their children: they began before. */
  read(key: string, value: Json): void {
    const pointer = `/childStates${pointerOf([key])}`;
    if (!isJsonObject(value)) invalid(pointer, "must be an object");
    if (!keyForm.test(key)) invalid(pointer, "is no key of a child");
    const around = this.#workflows.get(parentKey(key));
    const { workflow: name } = value;
    const workflow = typeof name === "string" ? around?.workflows.get(name) : undefined;
    if (!workflow) invalid(`${pointer}/workflow`, "must name a workflow of the definition");
    whole(value.version, `${pointer}/version`);
    this.#workflows.set(key, workflow);
    const child: { -readonly [K in keyof ChildState]: ChildState[K] } = {
      ...readScope(value, pointer, workflow, this.#workflowId),
      workflow: name as string,
      version: value.version as number,
    };
    if (value.queued !== undefined) {
      whole(value.queued, `${pointer}/queued`);
      child.queued = value.queued as number;
    }
    if (value.kept === true) child.kept = true;
    this.children.set(key, Object.freeze(child));
  }
}

const keyForm = /^[^/>]{1,64}#\d{1,16}(?:\/\d{1,9})?(?:>[^/>]{1,64}#\d{1,16}(?:\/\d{1,9})?)*$/;

/** Every open child needs the path that waits for it, every map its items. */
function checkItems(
  paths: readonly ActivePath[],
  children: ReadonlyMap<string, ChildState>,
  mapItems: JsonObject,
): Snapshot["mapItems"] | null {
  const items: Record<string, readonly Json[]> = {};
  const groups = new Set<string>();
  for (const [scope, activePaths] of [["", paths] as const, ...[...children].map(([key, child]) => [key, child.activePaths] as const)]) {
    for (const { children: group } of activePaths) {
      if (!group) continue;
      const key = within(scope, group.key);
      groups.add(key);
      if (!group.map) continue;
      const own = Object.hasOwn(mapItems, key) ? mapItems[key] : undefined;
      if (!Array.isArray(own) || own.length !== group.map.total)
        return invalid(`/mapItems${pointerOf([key])}`, `must be a list of ${group.map.total} items`);
      items[key] = Object.freeze(own as Json[]);
    }
  }
  for (const [key, child] of children) {
    if (isTerminal(child.status)) continue;
    const group = within(parentKey(key), groupOf(key));
    if (!groups.has(group)) return invalid(`/childStates${pointerOf([key])}`, "belongs to no path that waits for it");
    const count = items[group]?.length;
    if ((itemOf(key) === null) !== (count === undefined) || (itemOf(key) ?? 0) >= (count ?? 1))
      return invalid(`/childStates${pointerOf([key])}`, "is no item of its map");
  }
  return Object.keys(items).length > 0 ? Object.freeze(items) : null;
}
