import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ParentLink } from "../../core/snapshot/parts/lineage.ts";
import type { ChildEnd, Message } from "../../core/snapshot/parts/message.ts";
import { isTerminal, type SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { isRefusedStart } from "../commands/is-refused-start.ts";
import type { ExecutionStart, StartResult } from "../commands/start-execution.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { minFailoverMs } from "../context/store/persist.ts";
import { commandLocally, type LocalWork, startLocally, wakeExecution } from "../local/local-work.ts";
import { adoptChild } from "./adopt-child.ts";
import { endToReport, type OutboxDelivery, reportEnd, statusToReport, storedEnd, unlessGone } from "./report-end.ts";
import { cancelRoot, endReport, refusalReport, reopenedReport, reportToSchedule, startRoot } from "./root-execution.ts";
import { broadcastSignal, signalExecution } from "./signal-execution.ts";

type StartMessage = Message & { readonly type: "start" };
type CancelMessage = Message & { readonly type: "cancel" };

/** The most messages of one delivery. They leave the outbox before the next ones are delivered. */
const maxMessages = 100;
/** The most repeats of one delivery. If answers take as long as a failover each time, the store is slow and has not failed over. */
const maxRepeats = 2;

/** The messages of one delivery, which have not left the outbox of their execution yet. */
class DeliveredMessages {
  readonly from: Draft;
  readonly messages: Message[] = [];
  readonly #monotonicMs: () => number;
  /** When the store last answered, on the monotonic clock; null before the first answer. */
  #answeredMs: number | null = null;
  /** The time between two answers, not only the last two, was long enough for a failover. */
  #hadGap = false;

  constructor(from: Draft, monotonicMs: () => number) {
    this.from = from;
    this.#monotonicMs = monotonicMs;
  }

  /** Notes that the store has answered: it has acknowledged a write of the delivery, or a message is delivered. */
  answered(): void {
    this.#hadGap = this.mayBeLost;
    this.#answeredMs = this.#monotonicMs();
  }

  /**
   * Whether there was time for a failover: between two answers, or since the last one. It may have lost the writes to receivers, but not
   * the sender.
   */
  get mayBeLost(): boolean {
    return this.#hadGap || (this.#answeredMs !== null && this.#monotonicMs() - this.#answeredMs >= minFailoverMs);
  }
}

/**
 * Delivers the messages of an execution to other executions, the oldest first. For example, a message starts or cancels a child,
 * or tells the parent or the schedule that the execution has ended.
 *
 * A message may be delivered again after a crash or a failover; the second delivery changes nothing.
 */
export class Outbox {
  readonly #context: RuntimeContext;
  readonly #local: LocalWork;
  /** The latest delivery; null once its messages have left the outbox. */
  #latest: DeliveredMessages | null = null;

  constructor(context: RuntimeContext, local: LocalWork) {
    this.#context = context;
    this.#local = local;
  }

  /**
   * Delivers the first messages of the outbox.
   *
   * @param isHeld whether the claim of the sender is in force. If not, nothing more is sent: when the database fell back to an older state,
   *   the events that made these messages may be gone, and the next holder sends what is still in the outbox
   * @returns the ids of the messages that were delivered
   * @throws the error of the first message, if none was delivered
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
   * Delivers the messages of the latest delivery again if their receivers may have lost them by a failover. It is called before each try of
   * the commit with which the messages leave the outbox. If an earlier try was applied and only its answer was lost, nothing is delivered:
   * then the messages had arrived, and the receivers may have gone on.
   *
   * @param version the version that the commit makes
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

  /** Forgets the latest delivery, after the commit with which its messages have left the outbox. */
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
    const command: OutboxDelivery["command"] = (workflowId, given, about) =>
      answered(commandLocally(context, local, workflowId, given, { isCurrent: isHeld, ...about }));
    const start = (request: ExecutionStart): Promise<StartResult> =>
      answered(startLocally(context, local, { ...request, isCurrent: isHeld }));
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
    case "reopened":
      return void (await reportToSchedule(delivery, from.scheduledBy!, reopenedReport(from), message.id));
    case "ended":
      if (!from.parent) return void (await reportToSchedule(delivery, from.scheduledBy!, endReport(from), message.id));
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
  const prepared = await context.registry.pinnedForCommands(from.workflowId, definition.hash);
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
      // the node that wants the child fails; an error thrown here would end the session each time, until the sender is parked
      if (!isRefusedStart(error)) throw error;
      refusal = error;
      return taken;
    });
  if (committed) return;
  const child = refusal === null ? await startedChild(context, workflowId, parent) : null;
  if (child) {
    await reportEndOfExistingChild(delivery, child, message);
    return wakeExecution(context, local, wakeUp);
  }
  refusal ??= new StepfoldError("START_CONFLICT", { workflowId, differs: "parent" });
  context.onProblem(workflowId, refusal);
  if (waitId === undefined) return;
  const error = errorInfo(refusal, undefined, context.secrets.scrub);
  await reportEnd(delivery, from.workflowId, {
    type: "endChild",
    workflowId,
    waitId,
    incarnation: from.incarnation,
    end: { status: "failed", error },
  });
}

/**
 * Starts the execution that a schedule wants. If the start is refused, the schedule is told. If only this worker does not
 * know the workflow, the schedule asks again, and another worker can start the execution.
 *
 * @throws StepfoldError `DEFINITION_UNKNOWN` if the schedule was deleted meanwhile and cannot ask again. Then the message stays in the outbox
 * for another worker, as if the store did not answer; after some tries the schedule is parked
 */
async function startScheduled(delivery: OutboxDelivery, message: Message & { readonly type: "startRoot" }): Promise<void> {
  const refusal = await startRoot(delivery, message);
  if (!refusal) return;
  delivery.context.onProblem(message.to, refusal);
  const isTold = await reportToSchedule(delivery, message.scheduledBy, refusalReport(message, refusal), message.id);
  if (!isTold && refusal.code === "DEFINITION_UNKNOWN") throw refusal;
}

/** Returns the head of an execution if it exists and was started for this very wait; else null. */
async function startedChild({ store }: RuntimeContext, workflowId: string, link: ParentLink): Promise<SnapshotHead | null> {
  const head = await store.loadHead(workflowId);
  const parent = head?.parent;
  const isStarted = parent?.workflowId === link.workflowId && parent.incarnation === link.incarnation && parent.waitId === link.waitId;
  return isStarted ? head : null;
}

/**
 * Tells the sender how its child has ended, in case the child could not tell it: the database fell back to a state without the wait, the
 * child told its end in that state, and the wait was opened again later. If the sender knows the end already, this changes nothing.
 */
async function reportEndOfExistingChild(delivery: OutboxDelivery, child: SnapshotHead, { to, waitId }: StartMessage): Promise<void> {
  const { context, from } = delivery;
  const { workflowId, status } = child;
  if (waitId === undefined || !isTerminal(status)) return;
  const end = await storedEnd(context, workflowId, status as ChildEnd["status"]);
  await reportEnd(delivery, from.workflowId, { type: "endChild", workflowId: to, waitId, incarnation: from.incarnation, end });
}

async function cancelChild(delivery: OutboxDelivery, { to, waitId }: CancelMessage): Promise<void> {
  const { workflowId, incarnation } = delivery.from;
  const own = { workflowId, waitId, ...(incarnation !== undefined && { incarnation }) };
  const reason = `execution ${workflowId} no longer waits for this execution`;
  await unlessGone(async () => {
    await delivery.command(to, { type: "cancel", reason, parent: own });
  });
}
