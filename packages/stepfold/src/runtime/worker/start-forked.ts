import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { requireHead } from "../context/require-snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import type { Forking } from "../forks/fork.ts";
import { type LocalWork, startLocally, wakeExecution } from "./local-work.ts";

/**
 * Stores the new execution.
 *
 * @throws StepfoldError `START_CONFLICT` if there is another execution with its id
 */
export async function startForked(
  context: RuntimeContext,
  local: LocalWork,
  { plan: { workflowId, from }, start }: Forking,
): Promise<string> {
  const { committed, wakeUp } = await startLocally(context, local, start);
  if (committed) return workflowId;
  // the same was asked for before
  const there = (await requireHead(context.store, workflowId)).from;
  const isSame =
    there?.workflowId === from.workflowId &&
    there.incarnation === from.incarnation &&
    there.version === from.version &&
    there.reason === from.reason;
  if (!isSame) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "origin" });
  await wakeExecution(context, local, wakeUp);
  return workflowId;
}
