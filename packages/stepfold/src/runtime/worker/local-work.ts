import type { Command } from "../../engine/commands/command.ts";
import { dispatchCommand } from "../commands/dispatch-command.ts";
import { type ExecutionStart, type StartResult, startExecution } from "../commands/start-execution.ts";
import type { PendingWakeUp } from "../context/command-result.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { claimOne, type TimedClaim } from "../context/timed-claim.ts";
import { Inbox } from "./inbox.ts";
import { type ClaimedExecution, LoadBudget } from "./load-budget.ts";
import { OpenSessions } from "./open-sessions.ts";
import { Slots } from "./slots.ts";

/** What the dispatcher of this process shares with the parts that bring it work. */
export interface LocalWork {
  readonly slots: Slots;
  readonly sessions: OpenSessions;
  readonly inbox: Inbox;
  readonly budget: LoadBudget;
  /** Room for one execution that may kill this process. */
  readonly suspects: LoadBudget;
  /** Executions that are being claimed although nobody waits for that any more. */
  readonly wakes: Set<Promise<void>>;
}

export function createLocalWork({ environment, maxLoadedBytes }: RuntimeContext): LocalWork {
  return {
    slots: new Slots(),
    sessions: new OpenSessions(),
    inbox: new Inbox(),
    budget: new LoadBudget(maxLoadedBytes, environment),
    suspects: new LoadBudget(1, environment),
    wakes: new Set(),
  };
}

/**
 * Starts an execution, and runs it here if a slot is free.
 *
 * @returns the result of the command. If the id is taken, `wakeUp` is left to the caller, who first reads the existing execution.
 */
export async function startLocally(context: RuntimeContext, local: LocalWork, request: ExecutionStart): Promise<StartResult> {
  const slot = local.slots.tryTake("local");
  try {
    const result = await startExecution(context, request, slot && context.lease);
    if (result.claim && slot) local.inbox.put({ ...result.claim, slot });
    else {
      slot?.free();
      if (result.committed) await wakeExecution(context, local, result.wakeUp);
    }
    return result;
  } catch (error) {
    slot?.free();
    throw error;
  }
}

/**
 * Commits what a command makes of an execution, and wakes its session or claims it here. Where this process has a worker it is
 * answered once the commit is there; where it only hands over, the queue's message is sent before.
 *
 * @param isCurrent as `CommandJob.isCurrent`
 * @returns false if the same answer or signal was given before
 */
export async function commandLocally(
  context: RuntimeContext,
  local: LocalWork,
  workflowId: string,
  command: Command,
  isCurrent?: () => boolean,
): Promise<boolean> {
  const { committed, wakeUp } = await dispatchCommand(context, workflowId, command, { announce: !local.slots.isOpen, isCurrent });
  if (local.slots.isOpen) wakeLater(context, local, wakeUp);
  else await wakeExecution(context, local, wakeUp);
  return committed;
}

/** As `wakeExecution`, and nobody waits for it but the end of the worker. */
function wakeLater(context: RuntimeContext, local: LocalWork, wakeUp: PendingWakeUp | null): void {
  if (!wakeUp) return;
  const waking = wakeExecution(context, local, wakeUp)
    .catch((error: unknown) => context.onProblem(wakeUp.workflowId, error))
    .finally(() => local.wakes.delete(waking));
  local.wakes.add(waking);
}

/** Has an execution looked at: by its session here, by a new session here, or by another process that gets a message. */
export async function wakeExecution(context: RuntimeContext, local: LocalWork, wakeUp: PendingWakeUp | null): Promise<void> {
  if (!wakeUp) return;
  const { workflowId, wakeAt, isAnnounced } = wakeUp;
  // an execution that is not due yet is not claimed
  const isNow = wakeAt === 0 || local.sessions.has(workflowId);
  const runsHere = isNow && local.slots.isOpen && (await wakeLocally(context, local, workflowId, wakeUp).catch(() => false));
  // another process runs it, or may
  if (!runsHere) context.feed.tell("due", wakeUp);
  if (!runsHere && !isAnnounced) await context.wakeUpSender.send(wakeUp, wakeAt);
}

/**
 * Has the session here look at an execution; if there is none, claims the execution and runs it.
 *
 * @param written what this process has just committed: if nobody has committed since, it need not be loaded
 * @returns false if it does not run here: no slot is free, it is not due, or another process holds it
 */
export async function wakeLocally(
  context: RuntimeContext,
  { slots, sessions, inbox, budget }: LocalWork,
  workflowId: string,
  written?: PendingWakeUp,
): Promise<boolean> {
  if (sessions.wake(workflowId)) return true;
  const slot = slots.tryTake("local");
  if (!slot) {
    // with a queue a message goes out; without one the poller claims it when a slot is free
    if (!context.queue) inbox.put("unclaimed");
    return false;
  }
  // a `result()` or `waitFor` of this process waits for the next commit and does not load the execution: its status is known here
  if (written?.status) sessions.expect(workflowId, written.status);
  try {
    const claim = await claimOne(context, { workflowId });
    sessions.unexpect(workflowId);
    if (claim) inbox.put({ ...claim, ...writtenSnapshot(budget, written, claim), slot });
    else {
      slot.free();
      // another process has it, and may have gone on already
      if (written) context.looks.hint(workflowId, written.version);
    }
    return claim !== null;
  } catch (error) {
    sessions.unexpect(workflowId);
    slot.free();
    throw error;
  }
}

/** Smaller ones are not loaded anew even where there is no room: they are held already. */
const smallBytes = 256 * 1024;

/**
 * The snapshot and room for it, if it is what was claimed, and may be run without looking at the store again. A large one for which there is
 * no room is not held until there is some: it is loaded then, as those are that others have written.
 */
function writtenSnapshot(
  budget: LoadBudget,
  written: PendingWakeUp | undefined,
  { claim: { incarnation, version, expired, sizeBytes } }: TimedClaim,
): Pick<ClaimedExecution, "snapshot" | "room"> {
  if (!written?.snapshot || incarnation !== written.incarnation || version !== written.version || expired > 0) return {};
  const room = sizeBytes <= smallBytes ? budget.take(sizeBytes) : budget.tryTake(sizeBytes);
  return room ? { snapshot: written.snapshot(), room } : {};
}
