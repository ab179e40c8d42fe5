import type { Consumer, Delivery, WorkQueue } from "../../ports/work-queue.ts";
import { repeatEvery } from "../context/repeat-every.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { answerTimeoutMs } from "../context/store/deadline-store.ts";
import { claimOne } from "../context/timed-claim.ts";
import { queueAnswer } from "../context/with-timeout.ts";
import type { LocalWork } from "../local/local-work.ts";
import { wakeUpForOthers } from "./wake-up-for-others.ts";

/** The first and the longest time between two tries to open the consumer. */
const firstDelayMs = 100;
const maxDelayMs = 10_000;

/** Takes messages from the queue, and claims the executions that they name if these are due. */
export class QueueConsumer {
  readonly #context: RuntimeContext;
  readonly #local: LocalWork;
  readonly #queue: WorkQueue;
  /** The most messages that are handled at once. */
  readonly #concurrency: number;
  #consumer: Consumer | null = null;
  #opening: Promise<void>;
  /** Messages whose handler has not ended. */
  readonly #handled = new Set<Promise<void>>();
  #closed = false;
  #cancel: () => void = () => undefined;

  constructor(context: RuntimeContext, local: LocalWork, queue: WorkQueue, concurrency: number) {
    this.#context = context;
    this.#local = local;
    this.#queue = queue;
    this.#concurrency = concurrency;
    this.#opening = this.#open(firstDelayMs);
  }

  /** Takes no more messages, and waits until those in flight are handled. The wait for the queue after that has a time limit. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.#opening;
    if (!this.#consumer) return;
    const drained = this.#consumer.drain();
    await Promise.race([drained.catch(() => undefined), this.#allHandled()]);
    await this.#answer("close its consumer", drained).catch((error: unknown) => this.#context.onProblem(null, error));
  }

  async #allHandled(): Promise<void> {
    while (this.#handled.size > 0) await Promise.allSettled(this.#handled);
  }

  #answer<T>(undone: string, work: Promise<T>, late?: (value: T) => void): Promise<T> {
    const { lease, setting } = this.#context;
    const { deadlines } = setting;
    return queueAnswer(work, {
      queue: this.#queue.name,
      deadlines,
      timeoutMs: answerTimeoutMs(lease.leaseMs),
      undone,
      ...(late && { late }),
    });
  }

  /** Opens the consumer, and tries again and again if the queue does not answer. The store is polled meanwhile. */
  async #open(delayMs: number): Promise<void> {
    const { environment, lease } = this.#context;
    const onProblem = (error: unknown): void => this.#context.onProblem(null, error);
    try {
      const options = { concurrency: this.#concurrency, leaseMs: lease.leaseMs, onProblem };
      const consuming = this.#queue.consume((delivery) => this.#counted(delivery), options);
      this.#consumer = await this.#answer("open a consumer", consuming, (late) => void late.drain().catch(onProblem));
    } catch (error) {
      onProblem(error);
      if (this.#closed) return;
      this.#cancel = environment.after(delayMs, () => {
        this.#opening = this.#open(Math.min(delayMs * 2, maxDelayMs));
      });
    }
  }

  async #counted(delivery: Delivery): Promise<void> {
    const handled = this.#handle(delivery);
    this.#handled.add(handled);
    await handled.finally(() => this.#handled.delete(handled));
  }

  /** Sends a message again if its execution is due and this process leaves it to others. */
  async #passOn(workflowId: string): Promise<void> {
    const wakeUps = await wakeUpForOthers(this.#context, workflowId);
    if (wakeUps.length > 0) await this.#context.wakeUpSender.sendOn(wakeUps);
  }

  /** Runs the execution of a message. It keeps the message until then: if this process dies, another one gets the message. */
  async #handle(delivery: Delivery): Promise<void> {
    const { environment, lease, onProblem } = this.#context;
    const claim = await claimOne(this.#context, { workflowId: delivery.workflowId });
    // the execution is held by another process, waits for a permit, has ended or is not due: the message is no longer needed
    if (!claim) return this.#passOn(delivery.workflowId);
    const endExtensions = repeatEvery(environment, lease.leaseMs / 3, () => {
      this.#answer("prolong the lease of a message", delivery.extend()).catch((error: unknown) => onProblem(null, error));
    });
    // the dispatcher reports errors. After one the message is not kept: other workers find the execution when the lease of its claim ends
    const slot = this.#local.slots.take("queued");
    this.#local.inbox.put({ ...claim, slot });
    await slot.freed;
    endExtensions();
  }
}
