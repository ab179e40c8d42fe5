import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { addressOf, scopedKey } from "../../core/snapshot/address.ts";
import type { ItemAddedEvent, MapClosedEvent } from "../../core/snapshot/event.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { type FoundPath, findPaths, type Target } from "../../core/snapshot/target.ts";
import { workflowOf } from "../../core/transition/find-wait.ts";
import type { Limits } from "../../core/values/limits.ts";
import { CheckBudget } from "../schema/check-run.ts";
import type { PreparedWorkflow } from "../workflow/prepared-workflow.ts";
import { validatorOf } from "../workflow/validator.ts";
import type { Asked, CommandStamp } from "./asked.ts";
import { keepValue } from "./keep-value.ts";

/** Gives an open map (one that accepts further items) another item. */
export interface AddItemCommand extends Asked {
  readonly type: "addItem";
  /** The map's node, by its id or address. */
  readonly node: string;
  /** Absent: the item is null. */
  readonly item: unknown;
}

/** Closes an open map: it gets no more items, and is complete when all its items have ended, or before, if its `completeWhen` is met. */
export interface CloseMapCommand extends Asked {
  readonly type: "closeMap";
  readonly node: string;
}

/**
 * Completes a map at once, open or not, with the items that are done. Items in progress are cancelled; only an item that is undoing its
 * steps goes on with that. If more items have failed than the map tolerates, it fails instead.
 */
export interface CompleteMapCommand extends Asked {
  readonly type: "completeMap";
  readonly node: string;
}

/** Returns the event of a command for a map. @throws StepfoldError `MAP_CLOSED`, `RESUME_AMBIGUOUS`, `INPUT_INVALID`, ... */
export function mapEvent(
  { compiled }: PreparedWorkflow,
  snapshot: Snapshot,
  command: AddItemCommand | CloseMapCommand | CompleteMapCommand,
  stamp: CommandStamp,
  limits: Limits,
): ItemAddedEvent | MapClosedEvent {
  // only an open map can get items and be closed; any map can be completed
  const { scope, path } = findMap(snapshot, command.node, command.type !== "completeMap");
  const place = { ...stamp, ...(scope !== "" && { scope }), pathId: path.id };
  if (command.type === "closeMap") return { type: "mapClosed", ...place };
  if (command.type === "completeMap") return { type: "mapClosed", ...place, completes: true };
  const item = keepValue(snapshot, "item", command.item ?? null, limits);
  // the workflow that runs each item; its name is known only in the workflow of the scope of the map
  const { definition } = workflowOf(compiled, snapshot, scope)!.workflows.get(path.children!.workflow)!;
  if (definition.input !== undefined) {
    const { issues } = validatorOf(definition.input)(item.item, new CheckBudget(limits));
    if (issues) throw new StepfoldError("INPUT_INVALID", { workflow: definition.id, issues });
  }
  return { type: "itemAdded", ...place, ...item };
}

/** @throws StepfoldError `MAP_CLOSED` if there is no such map, `RESUME_AMBIGUOUS` if there are several */
function findMap(snapshot: Snapshot, node: Target, onlyOpen: boolean): FoundPath {
  const { workflowId } = snapshot;
  // a draining path only stays until its items have ended: the node of its map is complete already
  const found = findPaths(snapshot, node).filter(
    ({ path }) => path.children?.map && !path.draining && (!onlyOpen || path.children.map.open),
  );
  if (found.length > 1)
    throw new StepfoldError("RESUME_AMBIGUOUS", {
      workflowId,
      waits: found.map(({ scope, path }) => ({ id: scopedKey(scope, path.id), nodeId: addressOf(snapshot, scope, path.nodeId) })),
    });
  if (!found[0]) throw new StepfoldError("MAP_CLOSED", { workflowId, node: String(node) });
  return found[0];
}
