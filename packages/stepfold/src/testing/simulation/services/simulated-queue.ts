import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { ConsumeOptions, Delivery, WakeUp, WorkQueue } from "../../../ports/work-queue.ts";
import type { Faults } from "../machines/faults.ts";
import type { Machine } from "../machines/machine.ts";
import type { Network, ServiceFaults } from "../machines/network.ts";
import type { Scheduler } from "../machines/scheduler.ts";
import type { Random } from "../random.ts";

interface Message {
  readonly workflowId: string;
  dueAtMs: number;
  /** The number of deliveries. With each new delivery, the consumer that had the message before has lost it. */
  deliveries: number;
  isGone: boolean;
}

interface Listener {
  readonly machine: Machine;
  readonly handle: (delivery: Delivery) => Promise<void>;
  readonly options: ConsumeOptions;
  busy: number;
  isDraining: boolean;
}

interface Around {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  readonly network: Network;
}

/** The longest time by which the fault `queueDelay`, or a duplicate, makes a message late, in milliseconds. */
const maxDelayMs = 5_000;
/** The time until the queue looks again whether a consumer has room, in milliseconds. */
const againMs = 25;

/**
 * A queue that does no more than its port promises. It delivers at least once and, depending on the faults, twice, late, in any order,
 * or not at all.
 */
export class SimulatedQueue {
  readonly #around: Around;
  readonly #listeners = new Set<Listener>();

  constructor(around: Around) {
    this.#around = around;
  }

  /** The queue as one process sees it. */
  seenBy(machine: Machine): WorkQueue {
    const name = "simulated";
    const error = (reason: string): StepfoldError => new StepfoldError("QUEUE_UNAVAILABLE", { queue: name, reason });
    const kinds: ServiceFaults = { before: "queueErrorBefore", after: "queueErrorAfter", slow: null, hang: null, error };
    const { network } = this.#around;
    return {
      name,
      features: { durable: true, multiProcess: true },
      send: (wakeUps) =>
        network.call(machine, kinds, async () => {
          for (const wakeUp of wakeUps) this.#accept(wakeUp);
        }),
      consume: async (handle, options) => {
        const listener: Listener = { machine, handle, options, busy: 0, isDraining: false };
        await network.call(machine, kinds, async () => this.#listeners.add(listener));
        return { drain: () => this.#drain(listener) };
      },
      close: async () => undefined,
    };
  }

  #accept(wakeUp: WakeUp): void {
    const { faults, random } = this.#around;
    if (faults.happens("queueDrop")) return;
    this.#put(wakeUp, faults.happens("queueDelay") ? random.between(0, maxDelayMs) : 0);
    if (faults.happens("queueDuplicate")) this.#put(wakeUp, random.between(0, maxDelayMs));
  }

  #put({ workflowId, delayMs = 0 }: WakeUp, lateMs: number): void {
    const { scheduler } = this.#around;
    const message = { workflowId, dueAtMs: scheduler.nowMs + delayMs + lateMs, deliveries: 0, isGone: false };
    scheduler.after(delayMs + lateMs, () => this.#deliver(message));
  }

  #deliver(message: Message): void {
    const { scheduler, random, faults } = this.#around;
    if (message.isGone) return;
    for (const listener of this.#listeners) if (!listener.machine.isAlive) this.#listeners.delete(listener);
    const free = [...this.#listeners].filter(({ busy, options, isDraining }) => !isDraining && busy < options.concurrency);
    if (free.length === 0 || faults.happens("queueReorder")) {
      scheduler.after(random.between(1, 2 * againMs), () => this.#deliver(message));
      return;
    }
    this.#give(message, random.pick(free));
  }

  #give(message: Message, listener: Listener): void {
    const { network } = this.#around;
    const { machine, handle, options } = listener;
    const delivery = ++message.deliveries;
    const isCurrent = (): boolean => !message.isGone && message.deliveries === delivery;
    const again = (): void => {
      if (isCurrent()) this.#deliver(message);
    };
    let lease = this.#around.scheduler.after(options.leaseMs, again);
    const over = (isDone: boolean): void => {
      listener.busy--;
      if (!isCurrent()) return;
      lease();
      message.isGone = isDone;
      if (!isDone) this.#around.scheduler.after(againMs, again);
    };
    const kinds: ServiceFaults = { before: "queueErrorBefore", after: "queueErrorAfter", slow: null, hang: null, error: gone };
    listener.busy++;
    // A message takes time on its way to the consumer, and so does the consumer's answer.
    this.#around.scheduler.after(this.#around.random.between(1, 15), () => {
      if (!machine.isAlive) return;
      const extend = (): Promise<void> =>
        network.call(machine, kinds, async () => {
          if (!isCurrent()) return;
          lease();
          lease = this.#around.scheduler.after(options.leaseMs, again);
        });
      const told = (isDone: boolean): void => {
        network.call(machine, kinds, async () => over(isDone)).catch(() => undefined);
      };
      handle({ workflowId: message.workflowId, extend }).then(
        () => told(true),
        () => told(false),
      );
    });
  }

  #drain(listener: Listener): Promise<void> {
    listener.isDraining = true;
    return new Promise((resolve) => {
      const look = (): void => {
        if (listener.busy > 0) return void this.#around.scheduler.after(againMs, look);
        this.#listeners.delete(listener);
        if (listener.machine.isAlive) resolve();
      };
      look();
    });
  }
}

function gone(reason: string): StepfoldError {
  return new StepfoldError("QUEUE_UNAVAILABLE", { queue: "simulated", reason });
}
