import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { waits } from "../../core/explain/waits.ts";
import { openScopes } from "../../core/snapshot/address.ts";
import { isTerminal, type Snapshot, type Status } from "../../core/snapshot/snapshot.ts";
import { earliestTimer } from "../../core/transition/draft/draft-status.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { requireSnapshot } from "../context/store/require-snapshot.ts";
import type { OpenSessions } from "../local/open-sessions.ts";
import { waitUntil } from "./wait-until.ts";

/** Returns the snapshot of an execution once it has settled, and the detached executions that it waits for have settled too. */
export async function waitUntilSettled(
  context: RuntimeContext,
  sessions: OpenSessions,
  workflowId: string,
  end: AbortSignal,
): Promise<Snapshot> {
  for (;;) {
    const snapshot = await waitUntil(context, sessions, workflowId, mayBeSettled, settledSnapshot, end);
    const children = detachedChildren(snapshot);
    if (children.length === 0) return snapshot;
    await Promise.all(children.map((child) => waitUntilSettled(context, sessions, child, end).catch(unlessGone)));
    // a child that has ended has told this execution before, which then has a new version
    const now = await requireSnapshot(context.store, workflowId);
    if (now.version === snapshot.version) return now;
  }
}

function detachedChildren(snapshot: Snapshot): string[] {
  return waits(snapshot).flatMap(({ workflowId }) => (workflowId === undefined ? [] : [workflowId]));
}

function unlessGone(error: unknown): void {
  if (!StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) throw error;
}

function mayBeSettled(status: Status): boolean {
  return isTerminal(status) || status === "paused" || status === "parked";
}

function settledSnapshot(snapshot: Snapshot): Snapshot | null {
  return isSettled(snapshot) ? snapshot : null;
}

/** True if nothing can move without help from outside. */
function isSettled(snapshot: Snapshot): boolean {
  const { status, outbox, parked } = snapshot;
  if (parked) return parked.until === undefined;
  return (
    isTerminal(status) || (status === "paused" && !outbox && [...openScopes(snapshot)].every(([, paths]) => earliestTimer(paths) === null))
  );
}
