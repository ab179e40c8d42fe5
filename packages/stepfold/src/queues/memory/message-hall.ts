import type { Environment } from "../../ports/environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import { type Waiting, waitingLine } from "./waiting-line.ts";

/** What a memory queue needs of its environment. */
export type QueueClock = Pick<Environment, "monotonicMs" | "after">;

/** Where messages wait for whoever is free; any number of queues of one process may be over one. */
export interface MessageHall {
  readonly clock: QueueClock;
  put(messages: readonly Waiting[]): void;
  /** A consumer comes in. */
  enter(handle: (delivery: Delivery) => Promise<void>, options: ConsumeOptions): Seat;
}

/** A consumer that takes part. */
export interface Seat extends Consumer {
  /** As after the end of its process: nothing is heard of it any more. */
  vanish(): void;
}

interface Place extends ConsumeOptions {
  readonly handle: (delivery: Delivery) => Promise<void>;
  /** Handlers that have not settled. */
  running: number;
  /** Messages that are neither acknowledged nor given back. */
  readonly held: Set<Promise<void>>;
}

/** An empty one. */
export function messageHall(clock: QueueClock, retryDelayMs: number): MessageHall {
  const line = waitingLine();
  // the first in turn is the first to get something
  const places: Place[] = [];
  let isCalled = false;
  let cancelTimer: () => void = () => undefined;

  const call = (): void => {
    if (isCalled) return;
    isCalled = true;
    // whoever sends has gone on before anything is handled
    queueMicrotask(serve);
  };
  const serve = (): void => {
    isCalled = false;
    cancelTimer();
    for (;;) {
      const place = places.find(({ running, concurrency }) => running < concurrency);
      if (!place) return;
      const message = line.take(clock.monotonicMs());
      if (!message) break;
      places.push(...places.splice(places.indexOf(place), 1));
      const held = deliver(message, place);
      place.held.add(held);
      void held.then(() => place.held.delete(held));
    }
    const next = line.next();
    if (next !== undefined) cancelTimer = clock.after(Math.max(0, next - clock.monotonicMs()), call, { background: true });
  };
  const giveBack = ({ workflowId }: Waiting, afterMs: number): void => {
    line.add({ workflowId, dueAt: clock.monotonicMs() + afterMs });
    call();
  };

  /** Resolves when the message is acknowledged or given back; that may be before its handler has settled. */
  const deliver = (message: Waiting, place: Place): Promise<void> =>
    new Promise((resolve) => {
      let isHeld = true;
      let cancelLease: () => void = () => undefined;
      const end = (back: number | null): void => {
        if (!isHeld) return;
        isHeld = false;
        cancelLease();
        if (back !== null) giveBack(message, back);
        resolve();
      };
      const lease = (): void => {
        cancelLease();
        if (isHeld) cancelLease = clock.after(place.leaseMs, () => end(0), { background: true });
      };
      lease();
      place.running++;
      const delivery: Delivery = { workflowId: message.workflowId, extend: async () => lease() };
      place.handle(delivery).then(
        () => {
          place.running--;
          end(null);
          call();
        },
        (error: unknown) => {
          place.running--;
          end(retryDelayMs);
          call();
          place.onProblem(error);
        },
      );
    });

  return {
    clock,
    put(messages) {
      for (const message of messages) line.add(message);
      call();
    },
    enter(handle, options) {
      const place: Place = { ...options, handle, running: 0, held: new Set() };
      places.push(place);
      call();
      const vanish = (): void => {
        if (places.includes(place)) places.splice(places.indexOf(place), 1);
      };
      return {
        vanish,
        async drain() {
          vanish();
          while (place.held.size > 0) await Promise.all(place.held);
        },
      };
    },
  };
}
