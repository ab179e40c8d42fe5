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
 * Begins the execution that the sender goes on as. If that is refused the parent is told that it has failed. Told again, after a crash, it changes
 * nothing: the id is made of that of the origin, and the new execution names that.
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

/** Why it cannot be begun; null if it was, now or before. */
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
    // it was begun before, and was deleted since; or no worker could begin it
    if (error.code === "WORKFLOW_EXISTS") return null;
    if (isRefusedStart(error)) return error;
    throw error;
  }
}

/** How long, and how often, an execution is waited for that another one goes on as. */
const [waitMs, maxWaits] = [100, 100];

/**
 * For a message to an execution that is just going on as another one: each call waits a little for that one.
 *
 * It may be the sender itself, or wait for what the sender goes on as in turn, directly or round a circle. So the sender's own successor is begun
 * before anything is waited for, although the message for it lies behind the one that is being delivered.
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
      throw new StepfoldError("STORE_UNAVAILABLE", { store: store.name, reason: `what "${workflowId}" goes on as is not there yet` });
    await new Promise<void>((resolve) => void environment.after(waitMs, resolve));
  };
}

/** As the store has the sender: it may have decided to go on since this delivery began. @returns whether it goes on */
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
