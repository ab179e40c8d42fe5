import type { Adoption } from "../../core/restart/restart-state.ts";
import { openScopes } from "../../core/snapshot/address.ts";
import type { Snapshot, SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { refused } from "./load-history.ts";

/** A detached execution for which a restarted execution goes on to wait. */
export interface AdoptedChild {
  readonly workflowId: string;
  /** One that failed or was cancelled is restarted too, a completed one gives its output, and one that runs is waited for. */
  readonly status: Status;
}

/** The detached executions that an execution waited for and that still exist. */
export interface AdoptedChildren {
  /** The messages that take them over. */
  readonly adopts: readonly Adoption[];
  /** The same executions, for the plan. */
  readonly plans: readonly AdoptedChild[];
}

/**
 * Finds the detached executions for which a restarted execution goes on to wait. An execution that was deleted is left out: its step starts
 * another one.
 *
 * @throws StepfoldError `FORK_REFUSED` while one of them is ending, because its final status is not certain yet
 * @param snapshot the execution as it is opened again
 * @param compensated what happens to the undone steps of those that have to be restarted. Undefined: they are performed again
 */
export async function adoptedChildren(
  { store }: RuntimeContext,
  head: SnapshotHead,
  snapshot: Snapshot,
  compensated: Adoption["compensated"],
): Promise<AdoptedChildren> {
  const adopts: Adoption[] = [];
  const plans: AdoptedChild[] = [];
  for (const [, paths] of openScopes(snapshot)) {
    for (const { id: waitId, kind, workflowId: to } of paths.flatMap(({ waits = [] }) => waits)) {
      if (kind !== "child" || to === undefined) continue;
      const child = await store.loadHead(to);
      if (child?.parent?.waitId !== waitId || child.parent.workflowId !== head.workflowId || child.parent.incarnation !== head.incarnation)
        continue;
      if (child.ending || child.closing)
        throw refused(head, null, `its detached execution "${to}" is still ending; try again when it has ended`);
      adopts.push({ type: "adopt", to, waitId, ...(compensated !== undefined && { compensated }) });
      plans.push({ workflowId: to, status: child.status });
    }
  }
  return { adopts, plans };
}
