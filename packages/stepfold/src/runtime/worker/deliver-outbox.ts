import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ChildEnd, Message } from "../../core/snapshot/message.ts";
import { isTerminal, type ParentLink, type SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { isRestartOf } from "../../core/values/id.ts";
import type { Command } from "../../engine/commands/command.ts";
import { isRefusedStart } from "../commands/is-refused-start.ts";
import type { ExecutionStart, StartResult } from "../commands/start-execution.ts";
import { minFailoverMs } from "../context/persist.ts";
import { requireHead, requireSnapshot } from "../context/require-snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { latestOf } from "../context/successor.ts";
import { adoptChild } from "./adopt-child.ts";
import { continueExecution } from "./continue-execution.ts";
import { commandLocally, type LocalWork, startLocally, wakeExecution } from "./local-work.ts";
import { endToReport, type OutboxDelivery, reportEnd, statusToReport, unlessGone } from "./report-end.ts";
import { cancelRoot, endNews, refusalNews, reportToSchedule, startRoot } from "./root-execution.ts";
import { broadcastSignal, signalExecution } from "./signal-execution.ts";

type StartMessage = Message & { readonly type: "start" };
type CancelMessage = Message & { readonly type: "cancel" };

/** Messages delivered in one go: they leave the outbox before the next ones are delivered. */
const maxMessages = 100;
/** So often a go is repeated before it counts: if answers take as long as a failover each time, the store is slow and has not failed over. */
const maxRepeats = 2;

/** Messages of an execution that were delivered in one go and have not left its outbox yet. */
class DeliveredMessages {
  readonly from: Draft;
  readonly messages: Message[] = [];
  readonly #monotonicMs: () => number;
  /** When the store answered last. */
  #answeredMs: number | null = null;
  #hadGap = false;

  constructor(from: Draft, monotonicMs: () => number) {
    this.from = from;
    this.#monotonicMs = monotonicMs;
  }

  /** To be called whenever the store has acknowledged something of the delivery. */
  answered(): void {
    this.#hadGap = this.mayBeLost;
    this.#answeredMs = this.#monotonicMs();
  }

  /** Whether a failover may have come since the first answer, and has lost what was written for others, while the sender is still there. */
  get mayBeLost(): boolean {
    return this.#hadGap || (this.#answeredMs !== null && this.#monotonicMs() - this.#answeredMs >= minFailoverMs);
  }
}

/**
 * Delivers the messages of an execution to other executions, the oldest first: starts a child or what a schedule wants, cancels
 * one, or tells the parent or the schedule of the end.
 *
 * A message may be delivered again, after a crash or a failover: the second time it changes nothing.
 */
export class Outbox {
  readonly #context: RuntimeContext;
  readonly #local: LocalWork;
  #latest: DeliveredMessages | null = null;

  constructor(context: RuntimeContext, local: LocalWork) {
    this.#context = context;
    this.#local = local;
  }

  /**
   * @param isHeld whether the claim of the sending execution is in force. Afterwards nothing more is sent: if the database fell back to
   *   an older state, the events that ask for these messages may be gone, and the next holder sends what is still to be sent
   * @returns the ids of the messages that are delivered
   * @throws what went wrong with the first one, if none is delivered
   */
  async deliver(from: Draft, isHeld: () => boolean): Promise<readonly string[]> {
    const delivered = this.#noneOf(from);
    for (const message of from.outbox.slice(0, maxMessages)) {
      try {
        await this.#deliver(message, delivered, isHeld);
      } catch (error) {
        if (delivered.messages.length === 0) throw error;
        break;
      }
    }
    this.#latest = delivered;
    return delivered.messages.map(({ id }) => id);
  }

  /**
   * To be called before each try of the commit with which the messages leave the outbox. If a failover may have come since they were
   * delivered, those that they are for may have lost them, while the sender has not: they are delivered again. Not so if an earlier try was
   * applied and only its answer was lost: then they had arrived, and others may have gone on from there.
   *
   * @param version that the commit makes
   * @param isHeld as for `deliver`
   */
  async deliverLost(version: number, isHeld: () => boolean): Promise<void> {
    for (let repeats = 0; repeats < maxRepeats && this.#latest?.mayBeLost; repeats++) {
      const { from, messages } = this.#latest;
      const head = await this.#context.store.loadHead(from.workflowId);
      if (!head || head.version >= version) return;
      const again = this.#noneOf(from);
      for (const message of messages) await this.#deliver(message, again, isHeld);
      this.#latest = again;
    }
  }

  /** To be called after that commit: nothing of them is needed any more. */
  committed(): void {
    this.#latest = null;
  }

  #noneOf(from: Draft): DeliveredMessages {
    return new DeliveredMessages(from, () => this.#context.environment.monotonicMs());
  }

  async #deliver(message: Message, delivered: DeliveredMessages, isHeld: () => boolean): Promise<void> {
    const { from } = delivered;
    if (!isHeld()) throw new StepfoldError("FENCE_LOST", { workflowId: from.workflowId });
    const [context, local] = [this.#context, this.#local];
    const answered = async <T>(call: Promise<T>): Promise<T> => {
      const answer = await call;
      delivered.answered();
      return answer;
    };
    const command = (workflowId: string, given: Command): Promise<boolean> =>
      answered(commandLocally(context, local, workflowId, given, isHeld));
    const start = (request: ExecutionStart): Promise<StartResult> => answered(startLocally(context, local, request));
    await answered(deliver({ context, local, from, isHeld, command, start }, message));
    delivered.messages.push(message);
  }
}

async function deliver(delivery: OutboxDelivery, message: Message): Promise<void> {
  const { from } = delivery;
  switch (message.type) {
    case "start":
      return startChild(delivery, message);
    case "cancel":
      return cancelChild(delivery, message);
    case "continue":
      return continueExecution(delivery, message);
    case "adopt":
      return adoptChild(delivery, message);
    case "signal":
      return signalExecution(delivery, message);
    case "broadcast":
      return broadcastSignal(delivery, message);
    case "startRoot":
      return startScheduled(delivery, message);
    case "cancelRoot":
      return cancelRoot(delivery, message);
    case "ended":
      if (!from.parent) return reportToSchedule(delivery, from.scheduledBy!, endNews(from), message.id);
      return reportEnd(delivery, message.to, {
        type: "endChild",
        workflowId: from.workflowId,
        waitId: from.parent.waitId!,
        incarnation: from.parent.incarnation,
        end: endToReport(statusToReport(from), from),
      });
  }
}

async function startChild(delivery: OutboxDelivery, message: StartMessage): Promise<void> {
  const { context, local, from } = delivery;
  const { to: workflowId, definition, input, waitId, descendants } = message;
  const prepared = await context.registry.pinned(from.workflowId, definition.hash);
  const parent: ParentLink = Object.freeze({
    workflowId: from.workflowId,
    ...(from.incarnation !== undefined && { incarnation: from.incarnation }),
    ...(waitId !== undefined && { waitId }),
    depth: (from.parent?.depth ?? 0) + 1,
    ...(descendants !== undefined && { descendants }),
  });
  const taken = { committed: false, wakeUp: null };
  let refusal: unknown = null;
  const { committed, wakeUp } = await delivery
    .start({
      prepared,
      options: { workflowId, input, tenant: from.tenant },
      parent,
    })
    .catch((error: unknown) => {
      if (StepfoldError.is(error, "WORKFLOW_EXISTS")) return taken;
      // the node that wants the child fails, and the execution is not parked
      if (!isRefusedStart(error)) throw error;
      refusal = error;
      return taken;
    });
  if (committed) return;
  const child = refusal === null ? await startedChild(context, workflowId, parent) : null;
  if (child) {
    await reportEarlyEnd(delivery, child, message);
    return wakeExecution(context, local, wakeUp);
  }
  refusal ??= new StepfoldError("START_CONFLICT", { workflowId, differs: "parent" });
  context.onProblem(workflowId, refusal);
  if (waitId === undefined) return;
  const error = errorInfo(refusal);
  await reportEnd(delivery, from.workflowId, {
    type: "endChild",
    workflowId,
    waitId,
    incarnation: from.incarnation,
    end: { status: "failed", error },
  });
}

/** Starts what a schedule wants. If that is refused the schedule is told, or what it goes on as. */
async function startScheduled(delivery: OutboxDelivery, message: Message & { readonly type: "startRoot" }): Promise<void> {
  const refusal = await startRoot(delivery, message);
  if (!refusal) return;
  delivery.context.onProblem(message.to, refusal);
  await reportToSchedule(delivery, message.scheduledBy, refusalNews(message, refusal), message.id);
}

/** The execution, if it exists and this very wait has started it. */
async function startedChild({ store }: RuntimeContext, workflowId: string, link: ParentLink): Promise<SnapshotHead | null> {
  const head = await store.loadHead(workflowId);
  const parent = head?.parent;
  const isStarted = parent?.workflowId === link.workflowId && parent.incarnation === link.incarnation && parent.waitId === link.waitId;
  return isStarted ? head : null;
}

/**
 * Tells the sender how its child has ended, in case the child could not: the database fell back to a state without the wait, the child told its end then,
 * and the wait has been opened anew. If the child has told it, this changes nothing.
 */
async function reportEarlyEnd(delivery: OutboxDelivery, first: SnapshotHead, { to, waitId }: StartMessage): Promise<void> {
  const { context, from } = delivery;
  const { workflowId, status } = await latestOf(context.store, first);
  if (waitId === undefined || !isTerminal(status)) return;
  const end = endToReport(status as ChildEnd["status"], await requireSnapshot(context.store, workflowId));
  await reportEnd(delivery, from.workflowId, { type: "endChild", workflowId: to, waitId, incarnation: from.incarnation, end });
}

async function cancelChild(delivery: OutboxDelivery, { to, waitId }: CancelMessage): Promise<void> {
  const { context, from } = delivery;
  const { workflowId, incarnation } = from;
  const own = { workflowId, waitId, ...(incarnation !== undefined && { incarnation }) };
  const reason = `execution ${workflowId} no longer waits for it`;
  await unlessGone(async () => {
    const child = await latestOf(context.store, await requireHead(context.store, to));
    // one that was adopted has been begun by an execution that was restarted as this one
    const isAdopted = child.parent?.waitId === waitId && from.from !== undefined && isRestartOf(workflowId, child.parent.workflowId);
    await delivery.command(child.workflowId, { type: "cancel", reason, parent: isAdopted ? child.parent : own });
  });
}
