import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { refuseUnknown, requireMethods } from "../../core/values/check-arguments.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { Guest } from "../create-guest.ts";
import type { GuestHost, GuestResult } from "../host.ts";
import { readMessage } from "../read-message.ts";
import type { CloudflareStep, CloudflareStepConfig } from "./cloudflare-client.ts";
import { eventType } from "./cloudflare-mailbox.ts";

/** Options of a host on Cloudflare Workflows. */
export interface CloudflareHostOptions {
  /** The second parameter of the method `run` of your workflow. */
  readonly step: CloudflareStep;
  readonly guest: Pick<Guest, "perform">;
  /**
   * How a step is repeated whose process died or lacks the definition, and how long a step may run. Default: 20 times, after 1, 2, 4, ...
   * seconds; 30 minutes. A node that fails does not count here: Stepfold makes its retries.
   */
  readonly config?: CloudflareStepConfig | undefined;
}

const defaultConfig: CloudflareStepConfig = {
  retries: { limit: 20, delay: 1_000, backoff: "exponential" },
  timeout: 30 * 60_000,
};

/** The shortest and the longest time that a Cloudflare workflow can wait for an event. */
const minTimeoutMs = 1_000;
const maxTimeoutMs = 365 * 24 * 60 * 60_000;

/**
 * Makes a host of Cloudflare Workflows. Each step is a `step.do`; a pause waits for the next event, or until its time.
 *
 * ```ts
 * import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
 * import { createGuest, type GuestStart } from "stepfold/guest";
 * import { cloudflareHost } from "stepfold/guest/cloudflare";
 *
 * const guest = createGuest({ workflows, nodeDefinitions });
 * export class Stepfold extends WorkflowEntrypoint<Env, Omit<GuestStart, "workflowId">> {
 *   run({ payload, instanceId }: WorkflowEvent<Omit<GuestStart, "workflowId">>, step: WorkflowStep) {
 *     return guest.run(cloudflareHost({ step, guest }), { ...payload, workflowId: instanceId });
 *   }
 * }
 * ```
 *
 * @throws StepfoldError `OPTION_UNKNOWN`. Its methods reject with `LIMIT_EXCEEDED` for a pause of more than a year
 */
export function cloudflareHost(options: CloudflareHostOptions): GuestHost {
  refuseUnknown("cloudflareHost", options, ["step", "guest", "config"]);
  const { step: journal, guest, config = defaultConfig } = options;
  requireMethods("step", journal, "the step that Cloudflare hands to run()", ["do", "waitForEvent"]);
  requireMethods("guest", guest, "a guest of createGuest", ["perform"]);
  return {
    async perform(steps) {
      const results = steps.map((step) => journal.do(step.name, config, () => guest.perform(step) as Promise<never>));
      return (await Promise.all(results)) as GuestResult[];
    },
    async wait(until, { name }) {
      const leftMs = until === null ? maxTimeoutMs : until - systemEnvironment.now();
      if (leftMs > maxTimeoutMs)
        throw new StepfoldError("LIMIT_EXCEEDED", {
          what: "A pause on Cloudflare Workflows",
          limit: "timerMs",
          max: maxTimeoutMs,
          actual: leftMs,
        });
      // an event that is not a message comes from another program: wait again. Cloudflare counts waits of the same name, so each is new
      for (let message = null; ; ) {
        try {
          // in a replay, Cloudflare uses the timeout of the first call
          const event = await journal.waitForEvent(name, { type: eventType, timeout: Math.max(minTimeoutMs, leftMs) });
          message = readMessage(event.payload);
        } catch (error) {
          if (isTimeout(error)) return null;
          throw error;
        }
        if (message) return message;
      }
    },
  };
}

function isTimeout(error: unknown): boolean {
  return safeMember(error, "name") === "WorkflowTimeoutError" || /timed out/i.test(String(safeMember(error, "message")));
}
