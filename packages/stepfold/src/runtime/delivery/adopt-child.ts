import { openScopes } from "../../core/snapshot/address.ts";
import type { ChildEnd, Message } from "../../core/snapshot/parts/message.ts";
import { isTerminal, type Snapshot } from "../../core/snapshot/snapshot.ts";
import { statusAfterMessages } from "../../core/transition/draft/outbox.ts";
import { requireSnapshot } from "../context/store/require-snapshot.ts";
import { isRefused, type OutboxDelivery, reportEnd, storedEnd } from "./report-end.ts";
import { restartExecution } from "./restart-execution.ts";

type AdoptMessage = Message & { readonly type: "adopt" };

/**
 * Delivers the message `adopt`: an execution that was restarted waits for its detached child again. The message stays in the outbox until
 * this has succeeded. It is delivered again after a crash, and what was done before is not done twice.
 *
 * A child that still runs tells its end when it comes. If a child has ended while its parent did not wait, the parent does not know the end,
 * so it is read here: the output of a completed child is passed on, and a child that failed or was cancelled is restarted. If it cannot be
 * restarted, its end is passed on too.
 */
export async function adoptChild(delivery: OutboxDelivery, message: AdoptMessage): Promise<void> {
  const { context, from } = delivery;
  const { to, waitId } = message;
  const child = await context.store.loadHead(to);
  const status = !child ? "failed" : isTerminal(child.status) ? child.status : statusAfterMessages(child);
  if (status === null) return;
  const tell = async (): Promise<void> => {
    const end = await storedEnd(context, to, status as ChildEnd["status"]);
    await reportEnd(delivery, from.workflowId, { type: "endChild", workflowId: to, waitId, incarnation: from.incarnation, end });
  };
  if (status === "completed" || !child || !isTerminal(child.status)) return tell();
  // the wait is gone if the end of the child was passed on meanwhile
  if (!isWaitedFor(await requireSnapshot(context.store, from.workflowId), waitId)) return;
  try {
    // steps that were undone are performed again, unless the restart of the parent said otherwise
    await restartExecution(context, delivery.local, to, { compensated: message.compensated ?? "again" });
  } catch (error) {
    if (!isRefused(error)) throw error;
    context.onProblem(to, error);
    await tell();
  }
}

function isWaitedFor(snapshot: Snapshot, waitId: string): boolean {
  for (const [, paths] of openScopes(snapshot)) if (paths.some(({ waits }) => waits?.some(({ id }) => id === waitId))) return true;
  return false;
}
