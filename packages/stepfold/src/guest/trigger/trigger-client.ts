import type { GuestResult, GuestStep } from "../host.ts";

/** The methods that are used of `wait` of @trigger.dev/sdk. The type is declared here, so that the SDK is not a dependency. */
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

/** The result of a run that was waited for. */
type TriggerResult = { readonly ok: true; readonly output: GuestResult } | { readonly ok: false; readonly error: unknown };

/** The options of a run of a task. */
interface TriggerOptions {
  readonly idempotencyKey: string;
  readonly idempotencyKeyTTL: string;
}

/** The methods that are used of a task of @trigger.dev/sdk whose `run` is `guest.perform`. */
export interface TriggerStepTask {
  triggerAndWait(payload: GuestStep, options: TriggerOptions): PromiseLike<TriggerResult>;
  batchTriggerAndWait(items: { payload: GuestStep; options: TriggerOptions }[]): PromiseLike<{ readonly runs: readonly TriggerResult[] }>;
}
