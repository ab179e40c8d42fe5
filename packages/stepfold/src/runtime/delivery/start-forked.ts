import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { MadeExecution } from "../commands/start-execution.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { requireHead } from "../context/store/require-snapshot.ts";
import type { Forking } from "../forks/fork.ts";
import { type LocalWork, startLocally, wakeExecution } from "../local/local-work.ts";

/**
 * Stores an execution that goes on from another one (fork, adoption), and runs it here if a slot is free. `isNew` is false if the same
 * execution was stored before.
 *
 * @throws StepfoldError `START_CONFLICT` if another execution has its id
 */
export async function startForked(
  context: RuntimeContext,
  local: LocalWork,
  { plan: { workflowId }, from, start }: Forking,
): Promise<MadeExecution> {
  const { committed, wakeUp } = await startLocally(context, local, start);
  if (committed) return { workflowId, isNew: true };
  // the id is taken; the execution there may be the same one, stored by an earlier call
  const { from: there, tenant } = await requireHead(context.store, workflowId);
  if (tenant !== start.options.tenant) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "tenant" });
  const isSame =
    there?.workflowId === from.workflowId &&
    there.incarnation === from.incarnation &&
    there.version === from.version &&
    there.reason === from.reason;
  if (!isSame) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "origin" });
  await wakeExecution(context, local, wakeUp);
  return { workflowId, isNew: false };
}
