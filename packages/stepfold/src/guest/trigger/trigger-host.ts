import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { refuseUnknown } from "../../core/values/refuse-unknown.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";
import type { GuestHost, GuestMessage, GuestResult } from "../host.ts";
import { readMessage } from "../read-message.ts";
import type { TriggerStepTask, TriggerWait } from "./trigger-client.ts";
import { keyTtl, requireExecutionId, tokenKey } from "./trigger-mailbox.ts";

/** What a host on Trigger.dev is made of. */
export interface TriggerHostOptions {
  /** `wait` of @trigger.dev/sdk. */
  readonly wait: TriggerWait;
  /** The task that performs steps: its `run` is `guest.perform`. */
  readonly step: TriggerStepTask;
  /** Id of the execution, as `guest.run` is given it. It names the mailbox: two executions must not have the same. */
  readonly workflowId: string;
  /**
   * Whether commands can be sent to the execution (`triggerMailbox`). False: it sleeps by `wait.until`, which makes no tokens; a step that
   * waits for an answer then fails the run with `OPTION_INVALID`. Default: true.
   */
  readonly listens?: boolean | undefined;
  readonly environment?: Pick<Environment, "now"> | undefined;
}

/**
 * Trigger.dev as a host: each step is a run of a task of its own, found again by its idempotency key; a pause is a token of `wait`, which the
 * next command completes, or its time. A run that is repeated gets from Trigger.dev what it got before.
 *
 * ```ts
 * import { task, wait } from "@trigger.dev/sdk";
 * import { createGuest, type GuestStart, type GuestStep } from "stepfold/guest";
 * import { triggerHost } from "stepfold/guest/trigger";
 *
 * const guest = createGuest({ workflows, nodeDefinitions });
 * export const step = task({ id: "stepfold-step", run: (payload: GuestStep) => guest.perform(payload) });
 * export const workflow = task({
 *   id: "stepfold-workflow",
 *   run: (start: GuestStart) => guest.run(triggerHost({ wait, step, workflowId: start.workflowId }), start),
 * });
 * ```
 *
 * Make one for each run of the handler. Needs @trigger.dev/sdk 4.3.1 or later, where keys are those of the run.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`. Its methods reject with `STEP_LOST` if Trigger.dev has given up a step: repeat the run
 */
export function triggerHost(options: TriggerHostOptions): GuestHost {
  refuseUnknown("triggerHost", options, ["wait", "step", "workflowId", "listens", "environment"]);
  const { wait, step: task, workflowId, listens = true, environment = systemEnvironment } = options;
  requireExecutionId(workflowId);
  const mailbox = listens ? new Tokens(wait, workflowId, environment) : null;
  return {
    async perform(steps) {
      const items = steps.map((payload) => ({ payload, options: { idempotencyKey: payload.name, idempotencyKeyTTL: keyTtl } }));
      // Trigger.dev waits for one thing at a time: several steps at once are one batch
      const runs =
        items.length === 1
          ? [await task.triggerAndWait(items[0]!.payload, items[0]!.options)]
          : (await task.batchTriggerAndWait(items)).runs;
      return runs.map((run, i): GuestResult => {
        if (run.ok) return run.output;
        const reason = errorInfo(run.error).message;
        throw new StepfoldError("STEP_LOST", { host: "Trigger.dev", workflowId, step: steps[i]!.name, reason }, { cause: run.error });
      });
    },
    async wait(until) {
      if (mailbox) return mailbox.next(until);
      if (until === null)
        throw new StepfoldError("OPTION_INVALID", { option: "listens", reason: "must not be false: the execution waits for an answer" });
      await wait.until({ date: new Date(until) });
      return null;
    },
  };
}

/** The tokens of one execution, in their order. What each has come to is kept by Trigger.dev, so a replay goes through the same ones. */
class Tokens {
  readonly #wait: TriggerWait;
  readonly #workflowId: string;
  readonly #environment: Pick<Environment, "now">;
  #used = 0;

  constructor(wait: TriggerWait, workflowId: string, environment: Pick<Environment, "now">) {
    this.#wait = wait;
    this.#workflowId = workflowId;
    this.#environment = environment;
  }

  /** The next message, or null once the time has come. */
  async next(until: EpochMs | null): Promise<GuestMessage | null> {
    for (;;) {
      const idempotencyKey = tokenKey(this.#workflowId, ++this.#used);
      const token = await this.#wait.createToken({ idempotencyKey, idempotencyKeyTTL: keyTtl, timeout: this.#timeout(until) });
      const result = await this.#wait.forToken<unknown>(token.id);
      // what is no message was put there by somebody else
      const message = result.ok ? readMessage(result.output) : null;
      if (message) return message;
      if (result.ok || until === null) continue;
      // a sender that died may have made the token, with a time of its own; what Trigger.dev has stored decides, in each replay the same
      const { timeoutAt } = await this.#wait.retrieveToken(token.id);
      if (timeoutAt && timeoutAt.getTime() >= until) return null;
    }
  }

  /** As a duration: a moment could be past when the request arrives, and Trigger.dev takes that for no timeout at all. */
  #timeout(until: EpochMs | null): string {
    if (until === null) return keyTtl;
    return `${Math.max(1, Math.ceil((until - this.#environment.now()) / 1_000))}s`;
  }
}
