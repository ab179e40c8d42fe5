import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { addressOf, openScopes, scopedKey } from "../../core/snapshot/address.ts";
import type { CancelledEvent } from "../../core/snapshot/event.ts";
import { isTerminal, type ParentLink, type Snapshot } from "../../core/snapshot/snapshot.ts";
import { findItems, itemAddress, openPaths, readTarget, select, type Target, targetText } from "../../core/snapshot/target.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { checkedName } from "../attempt/suspension.ts";

/** Ends an execution, or a part of it. */
export interface CancelCommand {
  readonly type: "cancel";
  /**
   * Only this: the paths at a node, the one path of a wait, or with `{ node, item }` one item of the map at that node.
   * Default: all.
   */
  readonly target?: Target | undefined;
  readonly reason?: string | undefined;
  /** The execution that asks, if only one that it began is meant. */
  readonly parent?: Pick<ParentLink, "workflowId" | "incarnation" | "waitId"> | undefined;
}

/** The event of a cancellation. @throws StepfoldError `EXECUTION_ENDED`, `WAIT_GONE`, `RESUME_AMBIGUOUS`, `OPTION_INVALID` */
export function cancelEvent(
  snapshot: Snapshot,
  { target, reason, parent }: CancelCommand,
  stamp: { readonly version: number; readonly at: EpochMs },
): CancelledEvent {
  const { workflowId, ending, closing } = snapshot;
  // its end is decided; of what runs at the end only places can be given up, by their names
  if (closing && target === undefined) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status: closing.status });
  // at its end an execution that could not be undone may be given up, but not by the one that waits for it
  if (ending && !(ending.again && target === undefined && parent === undefined))
    throw new StepfoldError("EXECUTION_ENDED", { workflowId, status: ending.status });
  if (parent && !isBegunBy(snapshot, parent)) throw new StepfoldError("WAIT_GONE", { workflowId, target: "a child", open: [] });
  const event: CancelledEvent = { type: "cancelled", ...stamp, ...(reason !== undefined && { reason: checkedName("reason", reason) }) };
  if (target === undefined) return event;
  const wanted = readTarget(target);
  const items = findItems(snapshot, wanted);
  if (items.length > 1)
    throw ambiguous(
      snapshot,
      items.map((key) => ({ id: key, nodeId: itemAddress(snapshot, key) })),
    );
  if (items[0] !== undefined && mayEnd(snapshot, items[0])) return { ...event, scope: items[0] };
  const found = select(snapshot, wanted, openPaths(snapshot)).filter(({ path }) => !path.undoes);
  if (new Set(found.map(({ scope }) => scope)).size > 1)
    throw ambiguous(
      snapshot,
      found.map(({ scope, path }) => ({ id: scopedKey(scope, path.id), nodeId: addressOf(snapshot, scope, path.nodeId) })),
    );
  if (!found[0]) throw new StepfoldError("WAIT_GONE", { workflowId, target: targetText(wanted), open: openAddresses(snapshot) });
  const pathIds = found.map(({ path }) => path.id);
  return found[0].scope === "" ? { ...event, pathIds } : { ...event, scope: found[0].scope, pathIds };
}

/** Whether an item can be cancelled: it is open or has not begun, and is not being undone. */
function mayEnd({ childStates }: Snapshot, key: string): boolean {
  const child = childStates?.[key];
  return !child || !(isTerminal(child.status) || child.ending);
}

function ambiguous({ workflowId }: Snapshot, waits: readonly { readonly id: string; readonly nodeId: string }[]): StepfoldError {
  return new StepfoldError("RESUME_AMBIGUOUS", { workflowId, waits: waits.slice(0, maxListed) });
}

function isBegunBy({ parent }: Snapshot, { workflowId, incarnation, waitId }: NonNullable<CancelCommand["parent"]>): boolean {
  return parent?.workflowId === workflowId && parent.incarnation === incarnation && parent.waitId === waitId;
}

const maxListed = 100;

/** The addresses of open places, for a message: only the first ones. */
function openAddresses(snapshot: Snapshot): string[] {
  const places = new Set<string>();
  for (const [scope, paths] of openScopes(snapshot)) {
    for (const { nodeId } of paths) {
      places.add(addressOf(snapshot, scope, nodeId));
      if (places.size === maxListed) return [...places];
    }
  }
  return [...places];
}
