import type { Consumer, Delivery, WorkQueue } from "../../../ports/work-queue.ts";
import { ContractViolation } from "../../expectations.ts";
import type { QueueBench } from "../../queue-contract-case.ts";

/** A consumer, and the messages that it was given. */
export interface Heard extends Consumer {
  /** The ids of the messages, in the order in which they were delivered. */
  readonly ids: string[];
  readonly problems: unknown[];
}

/** Begins to consume, and returns the consumer. */
export async function hear(
  { leaseMs }: QueueBench,
  queue: WorkQueue,
  handle: (delivery: Delivery) => Promise<void> = async () => undefined,
  concurrency = 10,
): Promise<Heard> {
  const ids: string[] = [];
  const problems: unknown[] = [];
  const consumer = await queue.consume(
    (delivery) => {
      ids.push(delivery.workflowId);
      return handle(delivery);
    },
    { concurrency, leaseMs, onProblem: (problem) => problems.push(problem) },
  );
  return { ids, problems, drain: () => consumer.drain() };
}

/** The time between two checks of a condition. */
const stepMs = 20;

/** Lets time pass until a condition is true. Fails if it is not true within `withinMs`. */
export async function until(bench: QueueBench, isSo: () => boolean, what: string, withinMs: number = bench.patienceMs): Promise<void> {
  for (let passedMs = 0; !isSo(); passedMs += stepMs) {
    if (passedMs > withinMs) throw new ContractViolation(`${what}: not within ${withinMs} ms`);
    await bench.advance(stepMs);
  }
}

/** A promise that a case can settle. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** Makes a gate that is closed. */
export function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = () => resolve();
  });
  return { opened, open: () => open() };
}

/** A handler that never ends. */
export function never(): Promise<void> {
  return new Promise(() => undefined);
}

/** The error of a failing handler. */
export class HandlerFailure extends Error {
  override readonly name: string = "HandlerFailure";
}
