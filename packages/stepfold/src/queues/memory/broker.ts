import type { Environment } from "../../ports/environment.ts";
import type { ConsumeOptions, Consumer, Delivery } from "../../ports/work-queue.ts";
import { type Waiting, waitingLine } from "./delay-queue.ts";
import { deliver, type Place, type Way } from "./handle-message.ts";

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

interface Seated extends Place {
  /** Messages that are neither acknowledged nor given back. */
  readonly held: Set<Promise<void>>;
}

/** An empty one. */
export function messageHall(clock: QueueClock, retryDelayMs: number): MessageHall {
  const line = waitingLine();
  // the first in turn is the first to get something
  const places: Seated[] = [];
  let isCalled = false;
  let cancelTimer: () => void = () => undefined;

  const call = (): void => {
    if (isCalled) return;
    isCalled = true;
    // whoever sends has gone on before anything is handled
    queueMicrotask(serve);
  };
  const giveBack = ({ workflowId }: Waiting, afterMs: number): void => {
    line.add({ workflowId, dueAt: clock.monotonicMs() + afterMs });
    call();
  };
  const way: Way = { clock, retryDelayMs, giveBack, freed: call };
  const serve = (): void => {
    isCalled = false;
    cancelTimer();
    for (;;) {
      const place = places.find(({ running, concurrency }) => running < concurrency);
      if (!place) return;
      const message = line.take(clock.monotonicMs());
      if (!message) break;
      places.push(...places.splice(places.indexOf(place), 1));
      const held = deliver(message, place, way);
      place.held.add(held);
      void held.then(() => place.held.delete(held));
    }
    const next = line.next();
    if (next !== undefined) cancelTimer = clock.after(Math.max(0, next - clock.monotonicMs()), call, { background: true });
  };

  return {
    clock,
    put(messages) {
      for (const message of messages) line.add(message);
      call();
    },
    enter(handle, options) {
      const place: Seated = { ...options, handle, running: 0, held: new Set() };
      places.push(place);
      call();
      return seatOf(place, places);
    },
  };
}

function seatOf(place: Seated, places: Seated[]): Seat {
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
}
