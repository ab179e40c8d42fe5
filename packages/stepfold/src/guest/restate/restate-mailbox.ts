import type { Command } from "../../engine/commands/command.ts";
import type { GuestMessage } from "../host.ts";
import type { RestateSharedContext } from "./restate-client.ts";

/** The name of the nth durable promise of a workflow. These promises are the mailbox of the execution: each takes one message. */
export function promiseName(n: number): string {
  return `stepfold message ${n}`;
}

/** Sends commands to the execution of a Restate workflow. */
export interface RestateMailbox {
  /**
   * Puts a command into the mailbox of the execution, which takes the command the next time it waits, even if it has not started yet. The
   * call does not say whether the execution accepts the command: one that does not fit is refused later (`onRefused`).
   *
   * @param id commands with the same id count as one, however often they are sent. Default: a new id for each invocation
   */
  send(command: Command, id?: string): Promise<void>;
}

/**
 * The mailbox of an execution on Restate, for a shared handler of its workflow.
 *
 * ```ts
 * import type { WorkflowSharedContext } from "@restatedev/restate-sdk";
 * import type { Command } from "stepfold";
 * import { restateMailbox } from "stepfold/guest/restate";
 *
 * const send = (ctx: WorkflowSharedContext, command: Command) => restateMailbox(ctx).send(command);
 * ```
 */
export function restateMailbox(ctx: RestateSharedContext): RestateMailbox {
  return {
    async send(command, id = ctx.rand.uuidv4()) {
      const message: GuestMessage = { id, at: await ctx.date.now(), command };
      for (let n = 1; ; n++) if (await putIfEmpty(ctx, promiseName(n), message)) return;
    },
  };
}

/** Puts the message into a promise if the promise is empty. @returns whether the promise holds the message, now or from an earlier call */
async function putIfEmpty(ctx: RestateSharedContext, name: string, message: GuestMessage): Promise<boolean> {
  const promise = ctx.promise<GuestMessage>(name);
  const held = await promise.peek();
  if (held) return held.id === message.id;
  try {
    await promise.resolve(message);
    return true;
  } catch (error) {
    // another message was first
    const first = await promise.peek();
    if (first) return first.id === message.id;
    throw error;
  }
}
