import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Environment } from "../../ports/environment.ts";
import type { Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { WakeUp, WorkQueue } from "../../ports/work-queue.ts";
import type { StoreClock } from "./store-clock.ts";
import { within } from "./with-timeout.ts";

/** How long a caller waits for a queue that does not answer: what it should have told is found in the store. */
const patienceMs = 2_000;

/** A message that comes a moment early is of no use: it is not due yet. */
const marginMs = 2;

/** What a message is about. */
interface Execution {
  readonly workflowId: string;
  readonly incarnation?: string | undefined;
  readonly version: number;
}

interface Around {
  readonly queue: WorkQueue | null;
  readonly store: SnapshotStore;
  readonly environment: Environment;
  readonly clock: StoreClock;
  readonly onProblem: (workflowId: string, error: unknown) => void;
}

/** Tells the queue, if there is one, when executions are due. It is only a hint: nothing fails because a message did. */
export class Messenger {
  readonly #around: Around;

  constructor(around: Around) {
    this.#around = around;
  }

  /**
   * Makes a write, and sends its message in the same transaction, if store and queue can do that together.
   *
   * @returns whether the message was sent, or none is needed
   */
  async sendWith(execution: Execution, write: Commit, make: (write: Commit) => Promise<void>): Promise<boolean> {
    const { queue, store, onProblem } = this.#around;
    const wakeUp = this.#wakeUpOf(execution, write.wakeAt);
    const joins = queue?.features.joins !== undefined && queue.features.joins === store.features.transactions;
    if (wakeUp && joins) {
      try {
        await make({ ...write, alongside: (query) => queue.sendIn!(query, [wakeUp]) });
        return true;
      } catch (error) {
        if (!StepfoldError.is(error, "QUEUE_UNAVAILABLE") && !StepfoldError.is(error, "QUEUE_REJECTED")) throw error;
        // nothing was written because of the message: then without it
        onProblem(execution.workflowId, error);
      }
    }
    await make(write);
    return wakeUp === null;
  }

  /** Sends a message, and waits for that a while. */
  async send(execution: Execution, wakeAt: EpochMs | null): Promise<void> {
    const { queue, environment, onProblem } = this.#around;
    const wakeUp = this.#wakeUpOf(execution, wakeAt);
    if (!queue || !wakeUp) return;
    const sending = queue.send([wakeUp]).catch((error: unknown) => onProblem(execution.workflowId, error));
    await within(environment, patienceMs, sending);
  }

  /** Null if there is no queue, if it is never due by itself, or later than the queue can tell: then it is found in the store. */
  #wakeUpOf({ workflowId, incarnation = "", version }: Execution, wakeAt: EpochMs | null): WakeUp | null {
    const { queue, clock } = this.#around;
    if (!queue || wakeAt === null) return null;
    const now = clock.likely();
    const delayMs = wakeAt <= now ? 0 : wakeAt - now + marginMs;
    if (delayMs > (queue.features.maxDelayMs ?? Number.POSITIVE_INFINITY)) return null;
    return { workflowId, delayMs, dedupeKey: `${incarnation}:${version}` };
  }
}
