import { safeMember } from "../../core/errors/safe-member.ts";
import { refuseUnknown, requireMethods } from "../../core/values/check-arguments.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Guest } from "../create-guest.ts";
import type { GuestHost, GuestMessage, GuestResult } from "../host.ts";
import type { RestateDurablePromise, RestateRunContext } from "./restate-client.ts";
import { promiseName } from "./restate-mailbox.ts";

/** Options of a host on Restate. */
export interface RestateHostOptions<Run> {
  /** The context of the handler `run`. */
  readonly ctx: RestateRunContext<Run>;
  readonly guest: Pick<Guest, "perform">;
  /** `RestatePromise` of @restatedev/restate-sdk: promises of Restate must be combined with it. */
  readonly RestatePromise: { all(runs: readonly Run[]): PromiseLike<readonly unknown[]> };
}

/**
 * Makes a host of Restate. An execution is a Restate workflow, whose key is the id of the execution. Each step is a `ctx.run`. A pause
 * waits for a durable promise, which the next command resolves, or until its time.
 *
 * ```ts
 * import * as restate from "@restatedev/restate-sdk";
 * import type { Command } from "stepfold";
 * import { createGuest, type GuestStart } from "stepfold/guest";
 * import { restateHost, restateMailbox } from "stepfold/guest/restate";
 *
 * const guest = createGuest({ workflows, nodeDefinitions });
 * const { RestatePromise } = restate;
 * export const stepfold = restate.workflow({
 *   name: "stepfold",
 *   handlers: {
 *     run: (ctx: restate.WorkflowContext, start: Omit<GuestStart, "workflowId">) =>
 *       guest.run(restateHost({ ctx, guest, RestatePromise }), { ...start, workflowId: ctx.key }),
 *     send: (ctx: restate.WorkflowSharedContext, command: Command) => restateMailbox(ctx).send(command),
 *   },
 * });
 * ```
 *
 * Make a new host for each run of the handler, because a host counts the messages that were taken.
 *
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function restateHost<Run>(options: RestateHostOptions<Run>): GuestHost {
  refuseUnknown("restateHost", options, ["ctx", "guest", "RestatePromise"]);
  const { ctx, guest, RestatePromise } = options;
  requireMethods("ctx", ctx, "the context that Restate hands to the handler run", ["run", "promise"]);
  requireMethods("RestatePromise", RestatePromise, "RestatePromise of @restatedev/restate-sdk", ["all"]);
  requireMethods("guest", guest, "a guest of createGuest", ["perform"]);
  /** The number of messages that were taken. */
  let taken = 0;
  const before = async (promise: RestateDurablePromise<GuestMessage>, until: EpochMs): Promise<GuestMessage | null> => {
    const leftMs = until - (await ctx.date.now());
    if (leftMs <= 0) return (await promise.peek()) ?? null;
    try {
      return await promise.get().orTimeout(leftMs);
    } catch (error) {
      if (safeMember(error, "name") === "TimeoutError") return null;
      throw error;
    }
  };
  return {
    async perform(steps) {
      const runs = steps.map((step) => ctx.run(step.name, () => guest.perform(step)));
      return (await RestatePromise.all(runs)) as readonly GuestResult[];
    },
    async wait(until) {
      const promise = ctx.promise<GuestMessage>(promiseName(taken + 1));
      const message = until === null ? await promise.get() : await before(promise, until);
      if (message) taken++;
      return message;
    },
  };
}
