import type { Environment } from "../../ports/environment.ts";
import type { ConsumeOptions, Delivery } from "../../ports/work-queue.ts";

/** A consumer's handler, and how it consumes. */
export interface MessageHandler extends ConsumeOptions {
  readonly handle: (delivery: Delivery) => Promise<void>;
}

/** A message that a consumer holds. */
export interface HeldMessage {
  /**
   * Resolves when the consumer no longer holds the message: to null if it is acknowledged, else to the delay in milliseconds after which it
   * is delivered again. If the lease ends, this is before `settled`.
   */
  readonly released: Promise<number | null>;
  /** Resolves when the handler has settled. */
  readonly settled: Promise<void>;
}

/**
 * Gives a message to a handler, for as long as its lease lasts.
 *
 * @param retryDelayMs how long the message waits before it is delivered again if the handler rejects
 */
export function handleMessage(
  workflowId: string,
  { handle, leaseMs, onProblem }: MessageHandler,
  clock: Pick<Environment, "after">,
  retryDelayMs: number,
): HeldMessage {
  let isHeld = true;
  let cancelLease: () => void = () => undefined;
  let resolve: (redeliverMs: number | null) => void = () => undefined;
  const released = new Promise<number | null>((done) => {
    resolve = done;
  });
  const release = (redeliverMs: number | null): void => {
    isHeld = false;
    cancelLease();
    resolve(redeliverMs);
  };
  const lease = (): void => {
    cancelLease();
    if (isHeld) cancelLease = clock.after(leaseMs, () => release(0), { background: true });
  };
  lease();
  const settled = handle({ workflowId, extend: async () => lease() }).then(
    () => release(null),
    (error: unknown) => {
      release(retryDelayMs);
      onProblem(error);
    },
  );
  return { released, settled };
}
