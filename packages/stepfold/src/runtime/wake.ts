import type { EpochMs } from "../core/values/json.ts";
import type { Environment } from "../ports/environment.ts";
import type { WakeUp, WorkQueue } from "../ports/work-queue.ts";

/** How long a caller waits for a queue that does not answer: what it should have told is found in the store. */
const patienceMs = 2_000;

/** The message that an execution is due; null if it never is by itself, or later than the queue can tell. */
export function wakeUpOf(
  { features }: WorkQueue,
  execution: { readonly workflowId: string; readonly incarnation?: string | undefined; readonly version: number },
  wakeAt: EpochMs | null,
  now: EpochMs,
): WakeUp | null {
  if (wakeAt === null) return null;
  const delayMs = Math.max(0, wakeAt - now);
  if (delayMs > (features.maxDelayMs ?? Number.POSITIVE_INFINITY)) return null;
  const { workflowId, incarnation = "", version } = execution;
  return { workflowId, delayMs, dedupeKey: `${incarnation}:${version}` };
}

/** Sends a message, and waits for that a while. Never fails: it is only a hint, and the store has what it tells. */
export async function send(queue: WorkQueue, wakeUp: WakeUp, environment: Environment, onProblem: (error: unknown) => void): Promise<void> {
  let cancel = (): void => undefined;
  const impatience = new Promise<void>((resolve) => {
    cancel = environment.after(patienceMs, resolve);
  });
  await Promise.race([queue.send([wakeUp]).catch(onProblem), impatience]);
  cancel();
}
