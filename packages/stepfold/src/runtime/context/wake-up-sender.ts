import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Deadlines } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";
import type { Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { TransactionQuery } from "../../ports/transaction-query.ts";
import type { WakeUp, WorkQueue } from "../../ports/work-queue.ts";
import type { StoreClock } from "./store/store-clock.ts";
import { queueAnswer, withTimeout } from "./with-timeout.ts";

/** How long a queue that does not answer is waited for. Without its message the execution is found by a poll of the store. */
const maxSendMs = 2_000;

/** Added to every delay above 0: a message that comes a moment too early is of no use, because nothing is due yet. */
const marginMs = 2;

/** The execution that a message is about. */
interface DueExecution {
  readonly workflowId: string;
  readonly incarnation?: string | undefined;
  readonly version: number;
}

interface WakeUpSenderOptions {
  readonly queue: WorkQueue | null;
  readonly store: SnapshotStore;
  readonly environment: Environment;
  readonly deadlines: Deadlines;
  /** How long an answer of the store is waited for. A message in the transaction of a write has at most half of this time. */
  readonly answerMs: number;
  readonly clock: StoreClock;
  readonly onProblem: (workflowId: string, error: unknown) => void;
}

/** Sends a message to the queue, if there is one, when an execution is due. A message is only a hint: nothing fails without it. */
export class WakeUpSender {
  readonly #options: WakeUpSenderOptions;

  constructor(options: WakeUpSenderOptions) {
    this.#options = options;
  }

  /**
   * Makes a commit, and sends its message in the same transaction if store and queue share a database.
   *
   * @returns true if the message was sent, or none is needed
   */
  async sendWith(execution: DueExecution, commit: Commit, write: (commit: Commit) => Promise<void>): Promise<boolean> {
    const { queue, store, onProblem } = this.#options;
    const wakeUp = this.#wakeUpOf(execution, commit.wakeAt);
    const joins = queue?.features.joins !== undefined && queue.features.joins === store.features.transactions;
    if (wakeUp && joins) {
      try {
        await write({ ...commit, alongside: (query) => this.#sendIn(queue, query, wakeUp) });
        return true;
      } catch (error) {
        if (!StepfoldError.is(error, "QUEUE_UNAVAILABLE") && !StepfoldError.is(error, "QUEUE_REJECTED")) throw error;
        // the message failed, so nothing was written: the commit is made without it
        onProblem(execution.workflowId, error);
      }
    }
    await write(commit);
    return wakeUp === null;
  }

  /** Sends in the transaction of a write. When the send is over, it makes no more queries, because others may use the connection then. */
  async #sendIn(queue: WorkQueue, query: TransactionQuery, wakeUp: WakeUp): Promise<void> {
    let isOver = false;
    const whileOpen: TransactionQuery = async (text, values) => {
      if (!isOver) return query(text, values);
      throw new StepfoldError("QUEUE_UNAVAILABLE", { queue: queue.name, reason: "the transaction in which the message is sent has ended" });
    };
    const { deadlines, answerMs } = this.#options;
    const timeoutMs = Math.min(maxSendMs, answerMs / 2);
    try {
      await queueAnswer(queue.sendIn!(whileOpen, [wakeUp]), { queue: queue.name, deadlines, timeoutMs, undone: "send a message" });
    } finally {
      isOver = true;
    }
  }

  /**
   * Sends a message, and waits at most two seconds for the queue.
   *
   * @returns whether it was sent in this time; false too if none is needed
   */
  async send(execution: DueExecution, wakeAt: EpochMs | null): Promise<boolean> {
    const wakeUp = this.#wakeUpOf(execution, wakeAt);
    return wakeUp !== null && this.sendOn([wakeUp]);
  }

  /** Sends messages for executions that this process leaves to others. Waits as `send` does. @returns whether the messages were sent */
  async sendOn(wakeUps: readonly WakeUp[]): Promise<boolean> {
    const { queue, environment, answerMs, onProblem } = this.#options;
    if (!queue) return false;
    let isSent = false;
    const sending = queue.send(wakeUps).then(
      () => {
        isSent = true;
      },
      (error: unknown) => onProblem(wakeUps[0]!.workflowId, error),
    );
    await withTimeout(environment, Math.min(maxSendMs, answerMs), sending);
    return isSent;
  }

  /**
   * Returns the message for an execution. Null if none is needed: there is no queue, time alone does not make the execution due, or the
   * time is further away than the longest delay of the queue.
   */
  #wakeUpOf({ workflowId, incarnation = "", version }: DueExecution, wakeAt: EpochMs | null): WakeUp | null {
    const { queue, clock } = this.#options;
    if (!queue || wakeAt === null) return null;
    const now = clock.estimate();
    const delayMs = wakeAt <= now ? 0 : wakeAt - now + marginMs;
    if (delayMs > (queue.features.maxDelayMs ?? Number.POSITIVE_INFINITY)) return null;
    return { workflowId, delayMs, dedupeKey: `${incarnation}:${version}` };
  }
}
