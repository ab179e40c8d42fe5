import { addressOf, openScopes } from "../core/address.ts";
import { childKey, within } from "../core/child-key.ts";
import type { CancelledEvent } from "../core/event.ts";
import { findPaths } from "../core/find-paths.ts";
import { readTarget, type Target, textOf } from "../core/find-wait.ts";
import type { EpochMs } from "../core/json.ts";
import { isTerminal, type ParentLink, type Snapshot } from "../core/snapshot.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import { text } from "./suspension.ts";

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
export function cancelled(
  snapshot: Snapshot,
  { target, reason, parent }: CancelCommand,
  stamp: { readonly version: number; readonly at: EpochMs },
): CancelledEvent {
  const { workflowId, ending } = snapshot;
  if (ending) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status: ending.status });
  if (parent && !isBegunBy(snapshot, parent)) throw new StepfoldError("WAIT_GONE", { workflowId, target: "a child", open: [] });
  const event: CancelledEvent = { type: "cancelled", ...stamp, ...(reason !== undefined && { reason: text("reason", reason) }) };
  if (target === undefined) return event;
  const { node, item } = readTarget(target);
  const scope = item === undefined ? null : itemScope(snapshot, node!, item);
  if (scope !== null) return { ...event, scope };
  const found = findPaths(snapshot, target);
  const scopes = new Set(found.map((path) => path.scope));
  if (scopes.size > 1)
    throw new StepfoldError("RESUME_AMBIGUOUS", {
      workflowId,
      waits: found.slice(0, mostListed).map(({ scope: key, path }) => ({ id: within(key, path.id), nodeId: addressOf(snapshot, key, path.nodeId) })),
    });
  if (!found[0]) throw new StepfoldError("WAIT_GONE", { workflowId, target: textOf(readTarget(target)), open: placesOf(snapshot) });
  const pathIds = found.map(({ path }) => path.id);
  return found[0].scope === "" ? { ...event, pathIds } : { ...event, scope: found[0].scope, pathIds };
}

function isBegunBy({ parent }: Snapshot, { workflowId, incarnation, waitId }: NonNullable<CancelCommand["parent"]>): boolean {
  return parent?.workflowId === workflowId && parent.incarnation === incarnation && parent.waitId === waitId;
}

/** The child that is an item of the map at a node; null if there is none. */
function itemScope(snapshot: Snapshot, node: string, item: number): string | null {
  for (const [scope, paths] of openScopes(snapshot)) {
    for (const { nodeId, children } of paths) {
      if (nodeId !== node || !children?.map) continue;
      const key = childKey(scope, children.key, item);
      const child = snapshot.childStates?.[key];
      if (child && !isTerminal(child.status)) return key;
    }
  }
  return null;
}

const mostListed = 100;

/** The addresses of what is open, not more than anybody reads. */
function placesOf(snapshot: Snapshot): string[] {
  const places = new Set<string>();
  for (const [scope, paths] of openScopes(snapshot)) {
    for (const { nodeId } of paths) {
      places.add(addressOf(snapshot, scope, nodeId));
      if (places.size === mostListed) return [...places];
    }
  }
  return [...places];
}
