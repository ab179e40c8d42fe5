import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { TransactionQuery } from "../../ports/transaction-query.ts";
import type { ConsumeOptions, Consumer, Delivery, QueueFeatures, WakeUp, WorkQueue } from "../../ports/work-queue.ts";
import { queueError } from "./queue-error.ts";

/** A wake-up with a checked delay. */
export interface CheckedWakeUp extends WakeUp {
  /** From 0 to the queue's longest delay. */
  readonly delayMs: number;
}

/** What an adapter implements; `checkedQueue` adds what is the same for all queues. */
export interface QueueMethods {
  readonly name: string;
  readonly features: QueueFeatures;
  /** Called with at least one wake-up. */
  send(wakeUps: readonly CheckedWakeUp[]): Promise<void>;
  sendIn?(query: TransactionQuery, wakeUps: readonly CheckedWakeUp[]): Promise<void>;
  /** Errors of the queue and of `handle` may be passed to `onProblem` as they are. */
  consume(handle: (delivery: Delivery) => Promise<void>, options: ConsumeOptions): Promise<Consumer>;
  /** Whether the server would refuse the same call again. Absent or false: the error codes of SQL and Redis decide, as in `queueError`. */
  refuses?(cause: unknown): boolean;
  /** Frees what was opened here, after all consumers are drained and all messages sent. */
  close?(): Promise<void>;
}

/**
 * A queue that checks its arguments, drains its consumers when it is closed, and refuses every call after that. Its methods `send`,
 * `sendIn` and `consume` reject only with `StepfoldError`s, and `onProblem` of a consumer gets only these and errors of the handler.
 */
export function checkedQueue(methods: QueueMethods): WorkQueue {
  const { name, features } = methods;
  const consumers = new Set<Consumer>();
  const sends = new Set<Promise<void>>();
  let closing: Promise<void> | null = null;

  const whileOpen = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing) throw new StepfoldError("QUEUE_UNAVAILABLE", { queue: name, reason: "it was closed" });
    try {
      return await work();
    } catch (cause) {
      throw queueError(name, cause, methods.refuses);
    }
  };
  const sending = (send: (wakeUps: readonly CheckedWakeUp[]) => Promise<void>, wakeUps: readonly WakeUp[]): Promise<void> =>
    whileOpen(async () => {
      const checked = wakeUps.map((wakeUp) => ({ ...wakeUp, delayMs: checkedDelay(wakeUp.delayMs, features.maxDelayMs) }));
      if (checked.length === 0) return;
      const sent = send(checked);
      sends.add(sent);
      await sent.finally(() => sends.delete(sent));
    });
  const consume = async (handle: (delivery: Delivery) => Promise<void>, options: ConsumeOptions): Promise<Consumer> => {
    checkWhole("concurrency", options.concurrency);
    checkWhole("leaseMs", options.leaseMs);
    const opened = await methods.consume(...withCodes(methods, handle, options));
    const consumer = drainedOnce(() => opened.drain().finally(() => consumers.delete(consumer)));
    consumers.add(consumer);
    // the queue was closed while the consumer was opened
    if (closing) await consumer.drain();
    return consumer;
  };

  const closeAll = async (): Promise<void> => {
    const drained = Promise.all([...consumers].map((consumer) => consumer.drain()));
    await Promise.allSettled([drained]);
    await Promise.allSettled(sends);
    // a consumer that cannot be drained must not keep the connection open
    await methods.close?.();
    await drained;
  };

  return {
    name,
    features,
    send: (wakeUps) => sending(methods.send, wakeUps),
    ...(methods.sendIn && { sendIn: (query, wakeUps) => sending((checked) => methods.sendIn!(query, checked), wakeUps) }),
    consume: (handle, options) => whileOpen(() => consume(handle, options)),
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** Returns the arguments of a consumer, whose `onProblem` gives every error a code of ours, except the errors of the handler. */
function withCodes(
  { name, refuses }: QueueMethods,
  handle: (delivery: Delivery) => Promise<void>,
  options: ConsumeOptions,
): Parameters<QueueMethods["consume"]> {
  const ofHandler = new WeakSet<Error>();
  const handled = async (delivery: Delivery): Promise<void> => {
    try {
      await handle(delivery);
    } catch (error) {
      if (error instanceof Error) ofHandler.add(error);
      throw error;
    }
  };
  const onProblem = (error: unknown): void => {
    const isOfHandler = error instanceof Error && ofHandler.has(error);
    options.onProblem(isOfHandler ? error : queueError(name, error, refuses));
  };
  return [handled, { ...options, onProblem }];
}

function drainedOnce(drain: () => Promise<void>): Consumer {
  let draining: Promise<void> | null = null;
  return {
    drain() {
      draining ??= drain();
      return draining;
    },
  };
}

function checkedDelay(delayMs = 0, maxMs = Number.MAX_SAFE_INTEGER): number {
  if (typeof delayMs !== "number" || Number.isNaN(delayMs)) {
    throw new StepfoldError("OPTION_INVALID", { option: "delayMs", reason: "must be a number of milliseconds" });
  }
  return Math.min(Math.max(0, Math.ceil(delayMs)), maxMs);
}

function checkWhole(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a whole number, at least 1" });
}
