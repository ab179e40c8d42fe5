import type { Command } from "../../engine/commands/command.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { CloudflareInstance } from "./cloudflare-client.ts";

/** The type of all events that executions wait for. */
export const eventType = "stepfold";

/** Sends commands to the execution of an instance. */
export interface CloudflareMailbox {
  /**
   * Sends a command to the execution, which takes the command the next time it waits. The call resolves when Cloudflare has the command.
   * It does not say whether the execution accepts the command: one that does not fit is refused later (`onRefused`).
   *
   * @param id commands with the same id count as one, however often they are sent. Default: a new id
   */
  send(command: Command, id?: string): Promise<void>;
}

/**
 * The mailbox of an execution on Cloudflare Workflows.
 *
 * ```ts
 * import { cloudflareMailbox } from "stepfold/guest/cloudflare";
 *
 * const instance = await env.STEPFOLD.get("order-7");
 * await cloudflareMailbox(instance).send({ type: "resume", target: "review", payload: { approved: true } });
 * ```
 */
export function cloudflareMailbox(instance: CloudflareInstance): CloudflareMailbox {
  return {
    async send(command, id = systemEnvironment.newId()) {
      await instance.sendEvent({ type: eventType, payload: { id, at: systemEnvironment.now(), command } });
    },
  };
}
