import type { Environment } from "../../ports/environment.ts";
import type { Claimed, Lease, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { Consumer, Delivery, WorkQueue } from "../../ports/work-queue.ts";
import { every } from "../context/every.ts";

const firstDelayMs = 100;
const longestDelayMs = 10_000;

/** How a queue is listened to. */
export interface Listening {
  readonly queue: WorkQueue;
  readonly store: SnapshotStore;
  readonly environment: Environment;
  readonly lease: Lease;
  readonly concurrency: number;
  /** Told also when the claim was asked for, by the monotonic clock. */
  readonly take: (claimed: Claimed, askedAtMs: number) => Promise<void>;
  readonly onProblem: (error: unknown) => void;
}

/** Takes messages of a queue, and drives the executions that they name, if these are due. */
export class Listener {
  readonly #listening: Listening;
  #consumer: Consumer | null = null;
  #opening: Promise<void>;
  #closed = false;
  #cancel: () => void = () => undefined;

  constructor(listening: Listening) {
    this.#listening = listening;
    this.#opening = this.#open(firstDelayMs);
  }

  /** Takes no more messages; resolves when those under way are done with. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.#opening;
    await this.#consumer?.drain();
  }

  /** A queue that does not answer is asked again and again: meanwhile the store is. */
  async #open(delayMs: number): Promise<void> {
    const { queue, environment, lease, concurrency, onProblem } = this.#listening;
    try {
      const { leaseMs } = lease;
      this.#consumer = await queue.consume((delivery) => this.#handle(delivery), { concurrency, leaseMs, onProblem });
    } catch (error) {
      onProblem(error);
      if (this.#closed) return;
      this.#cancel = environment.after(delayMs, () => {
        this.#opening = this.#open(Math.min(delayMs * 2, longestDelayMs));
      });
    }
  }

  /** The message is kept until the execution has been driven: if this process dies, somebody else gets it. */
  async #handle(delivery: Delivery): Promise<void> {
    const { store, environment, lease, take, onProblem } = this.#listening;
    const askedAtMs = environment.monotonicMs();
    const [claimed] = await store.claim({ ...lease, limit: 1, workflowId: delivery.workflowId });
    // held by others, over, or not due any more: all of it is in the store
    if (!claimed) return;
    const endExtensions = every(environment, lease.leaseMs / 3, () => {
      delivery.extend().catch(onProblem);
    });
    try {
      // what goes wrong is told where it is driven; the lease of the claim decides who comes next, not the queue
      await take(claimed, askedAtMs);
    } finally {
      endExtensions();
    }
  }
}
