import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Message } from "../../core/snapshot/message.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { carriedBy } from "../../core/transition/take-checkpoint.ts";
import { isRefusedStart } from "../commands/is-refused-start.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { successorAt } from "../context/successor.ts";
import { type LocalWork, startLocally, wakeExecution } from "./local-work.ts";

/**
 * Begins the execution that another one goes on as. Told again, after a crash, it changes nothing: the id is made of that of the origin, and
 * the new execution names that.
 *
 * @returns why it cannot be begun; null if it was, now or before
 */
export async function continueExecution(
  context: RuntimeContext,
  local: LocalWork,
  from: Draft,
  { to: workflowId, input }: Message & { readonly type: "continue" },
): Promise<StepfoldError | null> {
  const { definition, metadata, tenant, parent, scheduledBy, unnamed, deadlineAt, deadlineGiven } = from;
  const prepared = await context.registry.pinned(from.workflowId, definition.hash);
  const now = await context.clock.now();
  const signals = from.inbox.filter(({ expiresAt }) => expiresAt > now);
  const { incarnation, version } = from;
  const carried = carriedBy(
    { workflowId: from.workflowId, ...(incarnation !== undefined && { incarnation }), version },
    signals,
    from.variables,
  );
  const options = { workflowId, input, metadata, tenant, ...(deadlineGiven && { deadline: deadlineAt }) };
  try {
    const { committed, wakeUp } = await startLocally(context, local, { prepared, options, parent, scheduledBy, unnamed, carried });
    if (committed) return null;
    if (await successorAt(context.store, workflowId, from, "continueAs")) {
      await wakeExecution(context, local, wakeUp);
      return null;
    }
    return new StepfoldError("START_CONFLICT", { workflowId, differs: "origin" });
  } catch (error) {
    if (!StepfoldError.is(error)) throw error;
    // it was begun before, and was deleted since; or no worker could begin it
    if (error.code === "WORKFLOW_EXISTS") return null;
    if (isRefusedStart(error)) return error;
    throw error;
  }
}
