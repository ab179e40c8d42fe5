import type { GuestMessage } from "../host.ts";

/** How Cloudflare repeats a step that threw an error or whose process died, and how long a step may run. */
export interface CloudflareStepConfig {
  /** `limit` is the number of repetitions, `delay` the time before the first one in milliseconds. */
  readonly retries: { readonly limit: number; readonly delay: number; readonly backoff: "constant" | "linear" | "exponential" };
  /** The longest time of a step, in milliseconds. */
  readonly timeout: number;
}

/** The methods that are used of the `step` of a Cloudflare workflow. The type is declared here, so that its package is not a dependency. */
export interface CloudflareStep {
  do(name: string, config: CloudflareStepConfig, callback: () => Promise<never>): Promise<unknown>;
  waitForEvent(name: string, options: { type: string; timeout: number }): Promise<{ readonly payload: unknown }>;
}

/** The method that is used of an instance of a Cloudflare workflow, as its binding returns it. */
export interface CloudflareInstance {
  sendEvent(event: { type: string; payload: GuestMessage }): Promise<void>;
}
