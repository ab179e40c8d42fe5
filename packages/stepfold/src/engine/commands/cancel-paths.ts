import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { addressOf, openScopes, scopedKey } from "../../core/snapshot/address.ts";
import type { CancelledEvent } from "../../core/snapshot/event.ts";
import type { ParentLink } from "../../core/snapshot/parts/lineage.ts";
import { isTerminal, type Snapshot } from "../../core/snapshot/snapshot.ts";
import { findItems, itemAddress, openPaths, readTarget, select, type Target, targetText } from "../../core/snapshot/target.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import type { Asked, CommandStamp } from "./asked.ts";

/** Ends an execution, or a part of it. */
export interface CancelCommand extends Asked {
  readonly type: "cancel";
  /**
   * What is cancelled: the paths at a node, the path of a wait, or with `{ node, item }` one item of the map at that node. Default: the
   * whole execution.
   */
  readonly target?: Target | undefined;
  readonly reason?: string | undefined;
  /** The execution that asks. If it is given, the command only cancels an execution that it has started. */
  readonly parent?: Pick<ParentLink, "workflowId" | "incarnation" | "waitId"> | undefined;
}

/** The event of a cancellation. @throws StepfoldError `EXECUTION_ENDED`, `WAIT_GONE`, `RESUME_AMBIGUOUS`, `OPTION_INVALID` */
export function cancelEvent(snapshot: Snapshot, { target, reason, parent }: CancelCommand, stamp: CommandStamp): CancelledEvent {
  const { workflowId, ending, closing } = snapshot;
  // the end is decided and its nodes (`finally`) run: only single paths of these can be cancelled, with a target
  if (closing && target === undefined) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status: closing.status });
  // while an execution is being undone, only the compensations that failed (`again`) can be given up, and not by the parent that waits
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

/** The most places that an error lists. */
const maxListed = 100;

/** The addresses of the nodes at which paths are open, for an error message; at most `maxListed`. */
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
