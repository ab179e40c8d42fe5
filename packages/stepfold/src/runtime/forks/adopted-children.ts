import { openScopes } from "../../core/snapshot/address.ts";
import type { SnapshotHead, Status, Wait } from "../../core/snapshot/snapshot.ts";
import type { Adoption } from "../../core/transition/take-checkpoint.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { latestOf } from "../context/successor.ts";
import { type ForkPoint, refused } from "./find-version.ts";

/** A detached execution that a restarted execution goes on to wait for. */
export interface AdoptedChild {
  readonly workflowId: string;
  /** A failed or cancelled one is restarted with it, one that has completed gives its output, and one that runs is waited for. */
  readonly status: Status;
}

/** The detached executions of an origin that exist still. */
export interface AdoptedChildren {
  readonly adopts: readonly Adoption[];
  readonly plans: readonly AdoptedChild[];
}

/**
 * Finds the detached executions that the restart of an execution goes on to wait for. One that was deleted is left out: its step starts
 * another one.
 *
 * @throws StepfoldError `FORK_REFUSED` as long as one of them is coming to its end: what becomes of it is certain only then
 * @throws StepfoldError `RESTART_COMPENSATED` if steps of one that is to be restarted were undone, and nobody has said what is to become of them
 */
export async function adoptedChildren(
  { store }: RuntimeContext,
  origin: SnapshotHead,
  { snapshot, ended }: ForkPoint,
  compensated: Adoption["compensated"],
): Promise<AdoptedChildren> {
  const waits: Wait[] = [...(ended?.waitsAgain?.waits ?? [])];
  for (const [, paths] of openScopes(snapshot)) for (const path of paths) waits.push(...(path.waits ?? []));
  const adopts: Adoption[] = [];
  const plans: AdoptedChild[] = [];
  for (const { id: waitId, workflowId: to } of waits) {
    const first = to === undefined ? null : await store.loadHead(to);
    if (to === undefined || first?.parent?.waitId !== waitId) continue;
    const { workflowId, status, ending, closing } = await latestOf(store, first);
    if (ending || closing)
      throw refused(origin.workflowId, null, `its execution "${workflowId}" is still coming to its end; try again when it has ended`);
    adopts.push({ type: "adopt", to, waitId, ...(compensated !== undefined && { compensated }) });
    plans.push({ workflowId, status });
  }
  return { adopts, plans };
}
