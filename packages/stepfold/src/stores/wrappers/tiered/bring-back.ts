import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import { readHistory } from "../../../ports/read-history.ts";
import type { Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { incarnationOf } from "../values/read-all.ts";
import { commitToCold, partialHead, withoutMarks } from "./cold-copy.ts";
import { copyRows } from "./copy-execution.ts";
import { loadCold } from "./load-cold.ts";
import { isRedirect, isRedirectAt } from "./redirect.ts";
import { copyKeys } from "./tier-keys.ts";
import type { Tiers } from "./tiers.ts";

/** How many times a commit is tried while other processes move the execution. */
const maxTries = 3;

/**
 * Makes a commit that opens an ended execution again. If the execution lives in the cold store, it first moves back to the hot store. The
 * copy in the cold store is deleted last: from the commit on, no move deletes the execution in the hot store.
 */
export async function reopenInTiers(tiers: Tiers, commit: Commit): Promise<void> {
  const { hot, cold } = tiers;
  const { workflowId, incarnation } = commit;
  for (let tries = 1; ; tries++) {
    try {
      // the cold store acknowledges a repetition, or refuses what was decided at another version
      if ((await bringBack(tiers, commit)) === "cold") return await commitToCold(cold, commit);
      await hot.commit(commit);
      break;
    } catch (error) {
      const isMoving = codesOfMoves.some((code) => StepfoldError.is(error, code));
      if (tries === maxTries || !isMoving) throw error;
    }
  }
  if ((await incarnationOf(cold, workflowId)) === incarnation) await deleteCopy(cold, workflowId);
}

/** The codes of refusals that may be due to another process which moves the execution at the same time. */
const codesOfMoves = ["VERSION_CONFLICT", "EXECUTION_OPEN", "WORKFLOW_NOT_FOUND"] as const;

/** Deletes the copy of an execution that lives in the hot store. A copy that is not complete is left for the next move. */
export async function deleteCopy(cold: SnapshotStore, workflowId: string): Promise<void> {
  await cold.delete(workflowId).catch((error: unknown) => {
    if (!StepfoldError.is(error, "EXECUTION_OPEN") && !StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) throw error;
  });
}

/**
 * Moves an ended execution from the cold store back to the hot store. Until the last commit of the copy, the hot store has a redirect, so
 * readers go on to the cold store, and an interrupted move is finished like that of any redirect: by deleting it.
 *
 * @returns the store that decides about the commit: the cold one if the execution lives there and is not at the version before the commit
 */
async function bringBack({ hot, cold }: Tiers, { workflowId, incarnation, expectedVersion }: Commit): Promise<"hot" | "cold"> {
  const inHot = await hot.loadHead(workflowId);
  if (inHot && !isRedirect(inHot)) return "hot";
  const live = await loadCold(cold, workflowId, inHot !== null);
  if (live?.incarnation !== incarnation) return "hot";
  if (!isTerminal(live.status) || live.version !== expectedVersion) return "cold";
  // the redirect of a move to the cold store, which has an event of its own
  if (inHot && (await isRedirectAt(hot, workflowId, inHot.version))) await hot.delete(workflowId);
  const rows = await readHistory(cold, workflowId);
  const original = withoutMarks(live);
  await copyKeys(cold, hot, original);
  await copyRows(hot, original, rows, { head: snapshotHead(original), wakeAt: null }, async () => true, redirectHead);
  return "hot";
}

/** Makes the head of a copy that is not complete: one of a redirect. */
function redirectHead(head: SnapshotHead, version: number): SnapshotHead {
  return { ...partialHead(head, version), status: "cancelled" };
}
