import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Message } from "../../core/snapshot/message.ts";
import { openDraft } from "../../core/transition/draft/open-draft.ts";
import { carriedBy } from "../../core/transition/take-checkpoint.ts";
import { isRefusedStart } from "../commands/is-refused-start.ts";
import { requireSnapshot } from "../context/require-snapshot.ts";
import { successorAt } from "../context/successor.ts";
import { wakeExecution } from "./local-work.ts";
import { type OutboxDelivery, reportEnd } from "./report-end.ts";

type ContinueMessage = Message & { readonly type: "continue" };

/**
 * Delivers the message `continue`: begins the successor, the execution that the sender goes on as. If the start is refused and a parent
 * waits for the sender, the parent is told that its child has failed. A second delivery after a crash changes nothing, because the id of
 * the successor is made from the id of the sender, and the successor names the sender as its origin.
 */
export async function continueExecution(delivery: OutboxDelivery, message: ContinueMessage): Promise<void> {
  const refusal = await beginSuccessor(delivery, message);
  if (!refusal) return;
  const { context, from } = delivery;
  context.onProblem(message.to, refusal);
  const { workflowId, parent } = from;
  if (parent?.waitId === undefined) return;
  const { waitId, incarnation } = parent;
  await reportEnd(delivery, parent.workflowId, {
    type: "endChild",
    workflowId,
    waitId,
    incarnation,
    end: { status: "failed", error: errorInfo(refusal) },
  });
}

/** Begins the successor of the sender. Returns the error that refuses it; null if the successor was begun, now or before. */
async function beginSuccessor(
  { context, local, from, start }: OutboxDelivery,
  { to: workflowId, input }: ContinueMessage,
): Promise<StepfoldError | null> {
  const { definition, metadata, tenant, parent, scheduledBy, unnamed, deadlineAt, deadlineGiven } = from;
  const prepared = await context.registry.pinned(from.workflowId, definition.hash);
  const now = await context.clock.now();
  const signals = from.inbox.filter(({ expiresAt }) => expiresAt > now);
  const { incarnation, version } = from;
  const carried = carriedBy(
    { workflowId: from.workflowId, ...(incarnation !== undefined && { incarnation }), version },
    signals,
    from.variables,
  );
  const options = { workflowId, input, metadata, tenant, ...(deadlineGiven && { deadline: deadlineAt }) };
  try {
    const { committed, wakeUp } = await start({ prepared, options, parent, scheduledBy, unnamed, carried });
    if (committed) return null;
    if (await successorAt(context.store, workflowId, from, "continueAs")) {
      await wakeExecution(context, local, wakeUp);
      return null;
    }
    return new StepfoldError("START_CONFLICT", { workflowId, differs: "origin" });
  } catch (error) {
    if (!StepfoldError.is(error)) throw error;
    // an earlier delivery has begun the successor, and it was deleted since
    if (error.code === "WORKFLOW_EXISTS") return null;
    if (isRefusedStart(error)) return error;
    throw error;
  }
}

/** The length and the largest number of waits for a successor that does not exist yet: ten seconds in all. */
const [waitMs, maxWaits] = [100, 100];

/**
 * Returns a function that waits a short time for the successor of an execution. A delivery calls it when the receiver of its message is
 * just going on as another execution, which does not exist yet. The function does not wait if it has begun the successor of the sender:
 * then the delivery looks again at once.
 *
 * The receiver may be the sender itself, or may wait for the successor of the sender, directly or through other executions. So the
 * successor of the sender is begun first, although its message comes after the one that is being delivered.
 *
 * @throws StepfoldError `STORE_UNAVAILABLE` after ten seconds, `FENCE_LOST`
 */
export function successorWait(delivery: OutboxDelivery): (workflowId: string) => Promise<void> {
  let isOwnBegun = false;
  let waits = 0;
  return async (workflowId) => {
    const { store, environment } = delivery.context;
    if (!isOwnBegun) {
      isOwnBegun = await beginOwnSuccessor(delivery);
      if (isOwnBegun) return;
    }
    if (++waits > maxWaits)
      throw new StepfoldError("STORE_UNAVAILABLE", {
        store: store.name,
        reason: `the execution that "${workflowId}" goes on as is not stored yet`,
      });
    await new Promise<void>((resolve) => void environment.after(waitMs, resolve));
  };
}

/**
 * Begins the successor of the sender. It loads the sender, which may have decided to go on since the delivery began.
 *
 * @returns whether the sender goes on as another execution
 */
async function beginOwnSuccessor(delivery: OutboxDelivery): Promise<boolean> {
  const { context, from, isHeld } = delivery;
  const { workflowId, incarnation } = from;
  const head = await context.store.loadHead(workflowId);
  if (!head?.continuedAs || head.incarnation !== incarnation) return false;
  const snapshot = await requireSnapshot(context.store, workflowId);
  const { compiled } = await context.registry.pinned(workflowId, snapshot.definition.hash);
  const stored = openDraft(compiled, snapshot);
  const message = stored.outbox.find((one) => one.type === "continue");
  if (!isHeld()) throw new StepfoldError("FENCE_LOST", { workflowId });
  if (message) await continueExecution({ ...delivery, from: stored }, message);
  return true;
}
