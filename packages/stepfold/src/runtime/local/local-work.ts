import type { Command } from "../../engine/commands/command.ts";
import { dispatchCommand } from "../commands/dispatch-command.ts";
import { type ExecutionStart, type StartResult, startExecution } from "../commands/start-execution.ts";
import type { CommandJob, PendingWakeUp } from "../context/command-result.ts";
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
  /** Room for one execution that may kill this process (`Claim.alone`), so that only one at a time is loaded. */
  readonly aloneBudget: LoadBudget;
  /** Wake-ups in flight that no caller waits for; only the end of the worker waits for them. */
  readonly wakes: Set<Promise<void>>;
}

export function createLocalWork({ environment, maxLoadedBytes }: RuntimeContext): LocalWork {
  return {
    slots: new Slots(),
    sessions: new OpenSessions(),
    inbox: new Inbox(),
    budget: new LoadBudget(maxLoadedBytes, environment),
    aloneBudget: new LoadBudget(1, environment),
    wakes: new Set(),
  };
}

/**
 * Starts an execution, and runs it here if a slot is free.
 *
 * @returns the result of the start. If the id is taken, the caller must handle `wakeUp`, after it has read the existing execution.
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
 * Commits a command to an execution, and wakes its session or claims it here. In a process with a worker the call resolves after the commit
 * and does not wait for the rest; in a process without a worker it also waits until the message to the queue is sent.
 *
 * @param about `isCurrent` and `ofSchedules` of the `CommandJob`
 * @returns false if a command with the same idempotency key was committed before
 */
export async function commandLocally(
  context: RuntimeContext,
  local: LocalWork,
  workflowId: string,
  command: Command,
  about: Pick<CommandJob, "isCurrent" | "ofSchedules"> = {},
): Promise<boolean> {
  const { committed, wakeUp } = await dispatchCommand(context, workflowId, command, { announce: !local.slots.isOpen, ...about });
  if (local.slots.isOpen) wakeLater(context, local, wakeUp);
  else await wakeExecution(context, local, wakeUp);
  return committed;
}

/** Calls `wakeExecution` in the background: only the end of the worker waits for it. */
export function wakeLater(context: RuntimeContext, local: LocalWork, wakeUp: PendingWakeUp | null, mayBeDue?: boolean): void {
  if (!wakeUp) return;
  const waking = wakeExecution(context, local, wakeUp, mayBeDue)
    .catch((error: unknown) => context.onProblem(wakeUp.workflowId, error))
    .finally(() => local.wakes.delete(waking));
  local.wakes.add(waking);
}

/**
 * Makes sure that an execution is looked at: by its session here, by a new session here, or by another process, which the queue and the
 * feed tell.
 *
 * @param mayBeDue whether to try to claim it although the wake-up does not say that it is due: it may have changed since
 */
export async function wakeExecution(
  context: RuntimeContext,
  local: LocalWork,
  wakeUp: PendingWakeUp | null,
  mayBeDue = false,
): Promise<void> {
  if (!wakeUp) return;
  const { wakeAt, isAnnounced } = wakeUp;
  const isTried = mayBeDue || wakeAt === 0 || local.sessions.has(wakeUp.workflowId);
  const runsHere = isTried && local.slots.isOpen && (await wakeLocally(context, local, wakeUp).catch(() => false));
  // another process runs the execution, or may claim it
  if (!runsHere) context.feed.tell("due", wakeUp);
  if (!runsHere && !isAnnounced) await context.wakeUpSender.send(wakeUp, wakeAt);
}

/**
 * Makes the session of an execution read it again; if it has no session here, claims the execution and runs it.
 *
 * @param written what was just committed. If this process has committed it and there was no other commit since, the execution is not loaded
 * @returns false if the execution does not run here: no slot or permit is free, it is not due, or another process holds it
 */
async function wakeLocally(
  context: RuntimeContext,
  { slots, sessions, inbox, budget }: LocalWork,
  written: PendingWakeUp,
): Promise<boolean> {
  const { workflowId, status, version } = written;
  if (sessions.wake(written)) return true;
  const slot = slots.tryTake("local");
  if (!slot) {
    // with a queue the caller sends a message; without one the poller claims the execution when a slot is free
    if (!context.queue) inbox.put("unclaimed");
    return false;
  }
  // a `result()` or `waitFor` of this process waits for the next commit and does not load the execution: its status is known here
  if (status) sessions.expect(workflowId, status);
  try {
    const claim = await claimOne(context, { workflowId });
    sessions.unexpect(workflowId);
    if (claim) inbox.put({ ...claim, ...writtenSnapshot(budget, written, claim), slot });
    else {
      slot.free();
      // another process holds the execution, and may have committed already
      context.headPolls.hint(workflowId, version);
    }
    return claim !== null;
  } catch (error) {
    sessions.unexpect(workflowId);
    slot.free();
    throw error;
  }
}

/** A snapshot up to this size is used even if there is no room for it, because this process holds it already. */
const smallBytes = 256 * 1024;

/**
 * Returns the snapshot that this process has just written, and room for it, if the claim is for this version and no claim before it ran
 * out. A large snapshot for which there is no room is dropped, and loaded from the store once there is room.
 */
function writtenSnapshot(
  budget: LoadBudget,
  written: PendingWakeUp,
  { claim: { incarnation, version, expired, sizeBytes } }: TimedClaim,
): Pick<ClaimedExecution, "snapshot" | "reservation"> {
  if (!written.snapshot || incarnation !== written.incarnation || version !== written.version || expired > 0) return {};
  const reservation = sizeBytes <= smallBytes ? budget.reserve(sizeBytes) : budget.tryReserve(sizeBytes);
  return reservation ? { snapshot: written.snapshot(), reservation } : {};
}
