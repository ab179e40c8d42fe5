import type { GuestResult, GuestStep } from "../host.ts";

/** `wait` of @trigger.dev/sdk, as far as it is used. Described here and not imported, so that it is no dependency. */
export interface TriggerWait {
  createToken(options: { idempotencyKey: string; idempotencyKeyTTL: string; timeout: string }): PromiseLike<{ readonly id: string }>;
  retrieveToken<T>(token: string): PromiseLike<{
    readonly status: "WAITING" | "COMPLETED" | "TIMED_OUT";
    readonly timeoutAt?: Date | undefined;
    readonly output?: T | undefined;
  }>;
  completeToken<T>(token: string, data: T): PromiseLike<unknown>;
  forToken<T>(token: string): PromiseLike<{ readonly ok: true; readonly output: T } | { readonly ok: false; readonly error: unknown }>;
  until(options: { date: Date }): PromiseLike<void>;
}

/** What became of a run that was waited for. */
type TriggerResult = { readonly ok: true; readonly output: GuestResult } | { readonly ok: false; readonly error: unknown };

interface TriggerOptions {
  readonly idempotencyKey: string;
  readonly idempotencyKeyTTL: string;
}

/** A task of @trigger.dev/sdk whose `run` is `guest.perform`, as far as it is used. */
export interface TriggerStepTask {
  triggerAndWait(payload: GuestStep, options: TriggerOptions): PromiseLike<TriggerResult>;
  batchTriggerAndWait(items: { payload: GuestStep; options: TriggerOptions }[]): PromiseLike<{ readonly runs: readonly TriggerResult[] }>;
}
