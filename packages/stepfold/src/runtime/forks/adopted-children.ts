import { openScopes } from "../../core/snapshot/address.ts";
import type { SnapshotHead, Status, Wait } from "../../core/snapshot/snapshot.ts";
import type { Adoption } from "../../core/transition/take-checkpoint.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { type ForkPoint, refused } from "./find-version.ts";

/** A detached execution that a restarted execution goes on to wait for. */
export interface AdoptedChild {
  readonly workflowId: string;
  /** A failed or cancelled execution is restarted too, a completed one gives its output, and for a running one the new execution waits. */
  readonly status: Status;
}

/** The detached executions that an origin waited for and that still exist. */
export interface AdoptedChildren {
  /** The messages that take them over. */
  readonly adopts: readonly Adoption[];
  /** The same executions, for the plan. */
  readonly plans: readonly AdoptedChild[];
}

/**
 * Finds the detached executions that a restarted execution goes on to wait for. An execution that was deleted is left out: its step
 * starts another one.
 *
 * @throws StepfoldError `FORK_REFUSED` while one of them is ending, because its final status is not certain yet
 * @param compensated what happens to the undone steps of those that have to be restarted. Undefined: they are performed again
 */
export async function adoptedChildren(
  { store }: RuntimeContext,
  origin: SnapshotHead,
  { snapshot, ended }: ForkPoint,
  compensated: Adoption["compensated"],
): Promise<AdoptedChildren> {
  const waits: Wait[] = [...(ended?.childSuspension?.waits ?? [])];
  for (const [, paths] of openScopes(snapshot)) for (const path of paths) waits.push(...(path.waits ?? []));
  const adopts: Adoption[] = [];
  const plans: AdoptedChild[] = [];
  for (const { id: waitId, workflowId: to } of waits) {
    const first = to === undefined ? null : await store.loadHead(to);
    if (to === undefined || first?.parent?.waitId !== waitId) continue;
    const { workflowId, status, ending, closing } = first;
    if (ending || closing)
      throw refused(origin.workflowId, null, `its detached execution "${workflowId}" is still ending; try again when it has ended`);
    adopts.push({ type: "adopt", to, waitId, ...(compensated !== undefined && { compensated }) });
    plans.push({ workflowId, status });
  }
  return { adopts, plans };
}
