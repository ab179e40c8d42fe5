import type { Command } from "../../engine/commands/command.ts";
import type { GuestMessage } from "../host.ts";
import type { RestateSharedContext } from "./restate-client.ts";

/** The durable promises of a workflow are the mailbox of its execution: each takes one message, the first that comes. */
export function promiseName(n: number): string {
  return `stepfold message ${n}`;
}

/** Takes commands for the execution of a workflow of Restate. */
export interface RestateMailbox {
  /**
   * Puts a command into the mailbox of the execution, which takes it when it waits the next time: also if it has not begun yet. It does not
   * tell whether the command is taken: one that does not fit is refused later (`onRefused`).
   *
   * @param id the same id is one command, however often it is sent. Default: a new one for each invocation
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
      for (let n = 1; ; n++) if (await isIn(ctx, promiseName(n), message)) return;
    },
  };
}

/** Whether a promise holds the message: it did, or takes it now. */
async function isIn(ctx: RestateSharedContext, name: string, message: GuestMessage): Promise<boolean> {
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
