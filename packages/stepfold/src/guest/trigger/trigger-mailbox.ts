import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isWorkflowId } from "../../core/values/id.ts";
import type { Command } from "../../engine/commands/command.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";
import type { GuestMessage } from "../host.ts";
import { readMessage } from "../read-message.ts";
import type { TriggerWait } from "./trigger-client.ts";

/** Keys of tokens and steps are kept for so long. Trigger.dev's own default is 30 days, after which a key names something new. */
export const keyTtl = "365d";
/** A token that a sender has made and not completed, because it died, holds up others for so long. */
const senderTimeout = "60s";

/**
 * The name of the nth token of an execution. The tokens of an execution are its mailbox: each takes one message, or the time that it was
 * waited for. Both the execution and a sender create it if it is not there yet; with the same idempotency key Trigger.dev makes one token.
 */
export function tokenKey(workflowId: string, n: number): string {
  return `stepfold/${workflowId}/${n}`;
}

/** An id that is none would be one mailbox for all that have none. @throws StepfoldError `OPTION_INVALID` */
export function requireExecutionId(workflowId: string): void {
  if (isWorkflowId(workflowId)) return;
  throw new StepfoldError("OPTION_INVALID", { option: "workflowId", reason: "must be text of 1 to 255 printable characters" });
}

/** Sends commands to executions on Trigger.dev. */
export interface TriggerMailbox {
  /**
   * Puts a command into the mailbox of an execution, which takes it when it waits the next time: also if it has not begun yet. It resolves
   * when the command is stored, and does not tell whether it is taken: a command that does not fit is refused later (`onRefused`).
   *
   * It looks through the tokens of the execution from the first on, in two or three requests each.
   *
   * @param id the same id is one command, however often it is sent. Default: a new one
   * @throws StepfoldError `OPTION_INVALID`; what the client throws, after which the same call with the same `id` may be made again
   */
  send(workflowId: string, command: Command, id?: string): Promise<void>;
}

/**
 * Sends commands to executions on Trigger.dev, for example from a web handler or a script.
 *
 * ```ts
 * import { wait } from "@trigger.dev/sdk";
 * import { triggerMailbox } from "stepfold/guest/trigger";
 *
 * await triggerMailbox(wait).send("order-7", { type: "resume", target: "review", payload: { approved: true } });
 * ```
 */
export function triggerMailbox(wait: TriggerWait, environment: Pick<Environment, "now" | "newId"> = systemEnvironment): TriggerMailbox {
  return {
    async send(workflowId, command, id = environment.newId()) {
      requireExecutionId(workflowId);
      const message: GuestMessage = { id, at: environment.now(), command };
      for (let n = 1; ; n++) if (await isIn(wait, tokenKey(workflowId, n), message)) return;
    },
  };
}

/** Whether a token holds the message: it did, or takes it now. */
async function isIn(wait: TriggerWait, idempotencyKey: string, message: GuestMessage): Promise<boolean> {
  const token = await wait.createToken({ idempotencyKey, idempotencyKeyTTL: keyTtl, timeout: senderTimeout });
  let { status, output } = await wait.retrieveToken<unknown>(token.id);
  if (status === "WAITING") {
    await wait.completeToken(token.id, message);
    // another sender may have been first, or the time: the token tells
    ({ status, output } = await wait.retrieveToken<unknown>(token.id));
  }
  return status === "COMPLETED" && readMessage(output)?.id === message.id;
}
