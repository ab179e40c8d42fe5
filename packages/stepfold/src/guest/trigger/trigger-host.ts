import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { refuseUnknown, requireMethods } from "../../core/values/check-arguments.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";
import type { GuestHost, GuestMessage, GuestResult } from "../host.ts";
import { readMessage } from "../read-message.ts";
import type { TriggerStepTask, TriggerWait } from "./trigger-client.ts";
import { keyTtl, requireExecutionId, tokenKey } from "./trigger-mailbox.ts";

/** Options of a host on Trigger.dev. */
export interface TriggerHostOptions {
  /** `wait` of @trigger.dev/sdk. */
  readonly wait: TriggerWait;
  /** The task that performs steps: its `run` is `guest.perform`. */
  readonly step: TriggerStepTask;
  /** Id of the execution, the same as for `guest.run`. It names the mailbox, so two executions must not have the same id. */
  readonly workflowId: string;
  /**
   * Whether commands can be sent to the execution (`triggerMailbox`). If false, pauses use `wait.until`, which makes no tokens, and a step
   * that waits for an answer without a time limit fails the run with `OPTION_INVALID`. Default: true.
   */
  readonly listens?: boolean | undefined;
  readonly environment?: Pick<Environment, "now"> | undefined;
}

/**
 * Makes a host of Trigger.dev. Each step is a run of the task `step`, which its idempotency key finds again. A pause is a token of `wait`,
 * which the next command completes, or which ends at its time. A run that is repeated gets the same results from Trigger.dev as before.
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
 * Make a new host for each run of the handler, because a host counts its tokens. Needs @trigger.dev/sdk 4.3.1 or later, where
 * idempotency keys belong to a run.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`. Its methods reject with `STEP_LOST` if Trigger.dev has given up a step: repeat
 * the run
 */
export function triggerHost(options: TriggerHostOptions): GuestHost {
  refuseUnknown("triggerHost", options, ["wait", "step", "workflowId", "listens", "environment"]);
  const { wait, step: task, workflowId, listens = true, environment = systemEnvironment } = options;
  requireMethods("wait", wait, "wait of @trigger.dev/sdk", ["until", "forToken"]);
  requireMethods("step", task, "a task of @trigger.dev/sdk", ["batchTriggerAndWait"]);
  requireExecutionId(workflowId);
  const mailbox = listens ? new Tokens(wait, workflowId, environment) : null;
  return {
    async perform(steps) {
      const items = steps.map((payload) => ({ payload, options: { idempotencyKey: payload.name, idempotencyKeyTTL: keyTtl } }));
      // a run of Trigger.dev can wait for only one thing at a time, so several steps are one batch
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

/** The tokens of one execution, in order. Trigger.dev keeps the result of each token, so a replay goes through the same tokens. */
class Tokens {
  readonly #wait: TriggerWait;
  readonly #workflowId: string;
  readonly #environment: Pick<Environment, "now">;
  /** The number of tokens that this run has waited for. */
  #used = 0;

  constructor(wait: TriggerWait, workflowId: string, environment: Pick<Environment, "now">) {
    this.#wait = wait;
    this.#workflowId = workflowId;
    this.#environment = environment;
  }

  /** Returns the next message, or null at the time `until`. */
  async next(until: EpochMs | null): Promise<GuestMessage | null> {
    for (;;) {
      const idempotencyKey = tokenKey(this.#workflowId, ++this.#used);
      const token = await this.#wait.createToken({ idempotencyKey, idempotencyKeyTTL: keyTtl, timeout: this.#timeout(until) });
      const result = await this.#wait.forToken<unknown>(token.id);
      // another program has put something that is not a message into the token
      const message = result.ok ? readMessage(result.output) : null;
      if (message) return message;
      if (result.ok || until === null) continue;
      // a sender that died may have made the token with a shorter timeout. The stored timeout decides: it is the same in each replay
      const { timeoutAt } = await this.#wait.retrieveToken(token.id);
      if (timeoutAt && timeoutAt.getTime() >= until) return null;
    }
  }

  /** Returns a timeout as a duration: a time could be past when the request arrives, and Trigger.dev would then set no timeout at all. */
  #timeout(until: EpochMs | null): string {
    if (until === null) return keyTtl;
    return `${Math.max(1, Math.ceil((until - this.#environment.now()) / 1_000))}s`;
  }
}
