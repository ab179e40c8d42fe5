import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { WakeUp } from "../../ports/work-queue.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { takesTaskQueue } from "../context/timed-claim.ts";

/** The shortest and the longest time until a message about an execution comes again. */
const minDelayMs = 200;
const maxDelayMs = 15 * 60_000;

/**
 * Returns the message for an execution that this process could not claim, if it is due and this process leaves it to others: it lacks its
 * code, or does not take its task queue. The longer it has been due, the later the message comes, so that executions that no process runs
 * cost the queue little. None if the message that came is no longer needed.
 */
export async function wakeUpForOthers(context: RuntimeContext, workflowId: string): Promise<readonly WakeUp[]> {
  const { store, taskQueues, lacking, environment, clock } = context;
  const lacks = lacking.hashes(environment.monotonicMs());
  if (lacks.size === 0 && !taskQueues) return [];
  const head = await store.loadHead(workflowId);
  if (!head || isTerminal(head.status)) return [];
  if (takesTaskQueue(context, head.taskQueue) && !lacks.has(head.definition.hash)) return [];
  const [summary] = (await store.summaries?.([workflowId])) ?? [];
  const now = await clock.now();
  if (!summary || summary.lease || summary.wakeAt === null || summary.wakeAt > now) return [];
  const dueForMs = now - (summary.wakeAt > 0 ? summary.wakeAt : summary.updatedAt);
  return [{ workflowId, delayMs: Math.min(Math.max(minDelayMs, dueForMs), maxDelayMs) }];
}
