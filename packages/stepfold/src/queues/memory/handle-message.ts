import type { Environment } from "../../ports/environment.ts";
import type { ConsumeOptions, Delivery } from "../../ports/work-queue.ts";
import type { Waiting } from "./delay-queue.ts";

/** A consumer at work. */
export interface Place extends ConsumeOptions {
  readonly handle: (delivery: Delivery) => Promise<void>;
  /** Handlers that have not settled. */
  running: number;
}

/** Where a message goes after its handler. */
export interface Way {
  readonly clock: Pick<Environment, "after">;
  readonly retryDelayMs: number;
  giveBack(message: Waiting, afterMs: number): void;
  /** A handler has settled: its consumer has a place again. */
  freed(): void;
}

/** Gives a message to a consumer. Resolves when it is acknowledged or given back; that may be before its handler has settled. */
export function deliver(message: Waiting, place: Place, { clock, retryDelayMs, giveBack, freed }: Way): Promise<void> {
  return new Promise((resolve) => {
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
    const settle = (back: number | null): void => {
      place.running--;
      end(back);
      freed();
    };
    lease();
    place.running++;
    const delivery: Delivery = { workflowId: message.workflowId, extend: async () => lease() };
    place.handle(delivery).then(
      () => settle(null),
      (error: unknown) => {
        settle(retryDelayMs);
        place.onProblem(error);
      },
    );
  });
}
