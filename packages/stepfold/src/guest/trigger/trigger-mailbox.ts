import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isWorkflowId } from "../../core/values/ids/id.ts";
import type { Command } from "../../engine/commands/command.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { Environment } from "../../ports/environment.ts";
import type { GuestMessage } from "../host.ts";
import { readMessage } from "../read-message.ts";
import type { TriggerWait } from "./trigger-client.ts";

/** How long Trigger.dev keeps the keys of tokens and steps. Its default is 30 days; later, a key would name a new token or step. */
export const keyTtl = "365d";
/**
 * The timeout of a token that a sender makes. If the sender dies before it completes the token, and no other message comes, a pause of the
 * execution may end late by this time, because it waits for this token.
 */
const senderTimeout = "60s";

/**
 * The idempotency key of the nth token of an execution. The tokens of an execution are its mailbox: each ends with a message, or with its
 * timeout. Both the execution and the senders create a token that does not exist yet; Trigger.dev makes only one token for a key.
 */
export function tokenKey(workflowId: string, n: number): string {
  return `stepfold/${workflowId}/${n}`;
}

/** Checks an id: all executions without a valid id would share one mailbox. @throws StepfoldError `OPTION_INVALID` */
export function requireExecutionId(workflowId: string): void {
  if (isWorkflowId(workflowId)) return;
  throw new StepfoldError("OPTION_INVALID", { option: "workflowId", reason: "must be text of 1 to 255 printable characters" });
}

/** Sends commands to executions on Trigger.dev. */
export interface TriggerMailbox {
  /**
   * Puts a command into the mailbox of an execution, which takes the command the next time it waits, even if it has not started yet. The
   * call resolves when the command is stored. It does not say whether the execution accepts the command: one that does not fit is refused
   * later (`onRefused`).
   *
   * The call goes through the tokens of the execution from the first one on, with two requests for each that is taken, and four for its
   * own.
   *
   * @param id commands with the same id count as one, however often they are sent. Default: a new id
   * @throws StepfoldError `OPTION_INVALID`; any error that the client throws: then the same call may be made again with the same `id`
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
      for (let n = 1; ; n++) if (await putIfEmpty(wait, tokenKey(workflowId, n), message)) return;
    },
  };
}

/** Puts the message into a token if the token is open. @returns whether the token holds the message, now or from an earlier call */
async function putIfEmpty(wait: TriggerWait, idempotencyKey: string, message: GuestMessage): Promise<boolean> {
  const token = await wait.createToken({ idempotencyKey, idempotencyKeyTTL: keyTtl, timeout: senderTimeout });
  let { status, output } = await wait.retrieveToken<unknown>(token.id);
  if (status === "WAITING") {
    await wait.completeToken(token.id, message);
    // another sender or the timeout may have been first, so the token is read again
    ({ status, output } = await wait.retrieveToken<unknown>(token.id));
  }
  return status === "COMPLETED" && readMessage(output)?.id === message.id;
}
