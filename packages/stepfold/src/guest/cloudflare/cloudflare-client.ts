import type { GuestMessage } from "../host.ts";

/** How Cloudflare repeats a step whose process died, and how long it lets one run. */
export interface CloudflareStepConfig {
  readonly retries: { readonly limit: number; readonly delay: number; readonly backoff: "constant" | "linear" | "exponential" };
  /** In milliseconds. */
  readonly timeout: number;
}

/** The `step` that a workflow of Cloudflare is run with, as far as it is used. Described here and not imported, so that it is no dependency. */
export interface CloudflareStep {
  do(name: string, config: CloudflareStepConfig, callback: () => Promise<never>): Promise<unknown>;
  waitForEvent(name: string, options: { type: string; timeout: number }): Promise<{ readonly payload: unknown }>;
}

/** An instance of a workflow of Cloudflare, as its binding gives it, as far as it is used. */
export interface CloudflareInstance {
  sendEvent(event: { type: string; payload: GuestMessage }): Promise<void>;
}
