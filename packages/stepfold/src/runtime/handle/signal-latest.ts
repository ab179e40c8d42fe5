import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import { maxUnavailableMs } from "../context/persist.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { successorOf } from "../context/successor.ts";
import type { OpenSessions } from "../worker/open-sessions.ts";
import { withEnd } from "./end-of-wait.ts";
import { waitUntilEnded } from "./wait-until.ts";

/**
 * Sends a signal to an execution. If the execution has ended and goes on as a new one, the signal is sent to the last of these successors.
 * An execution that is just about to go on is waited for, ten seconds at most.
 */
export async function signalLatest(
  context: RuntimeContext,
  sessions: OpenSessions,
  workflowId: string,
  send: (workflowId: string) => Promise<boolean>,
): Promise<boolean> {
  for (let id = workflowId; ; ) {
    try {
      return await send(id);
    } catch (error) {
      const next = StepfoldError.is(error, "EXECUTION_ENDED") ? await successorOnceEnded(context, sessions, id) : null;
      if (next === null) throw error;
      id = next;
    }
  }
}

/** Returns the id of the execution that an execution goes on as, once it exists; null if there is none. */
async function successorOnceEnded(context: RuntimeContext, sessions: OpenSessions, workflowId: string): Promise<string | null> {
  const head = await context.store.loadHead(workflowId);
  if (!head?.continuedAs) return null;
  const words = { workflowId, awaited: "end", method: "run.signal" };
  const wait = { timeoutMs: maxUnavailableMs };
  if (!isTerminal(head.status)) await withEnd(context, wait, words, (end) => waitUntilEnded(context, sessions, workflowId, end));
  return (await successorOf(context.store, head))?.workflowId ?? null;
}
