import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type Explanation, explain } from "../../core/explain/explain.ts";
import { waits } from "../../core/explain/waits.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Json } from "../../core/values/json.ts";
import type { Command } from "../../engine/commands/command.ts";
import { requireSnapshot } from "../context/require-snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { commandLocally, type LocalWork } from "../worker/local-work.ts";
import { ChangesOf } from "./changes-of.ts";
import { endOfWait, withEnd } from "./end-of-wait.ts";
import { type Run, targetOf } from "./run.ts";
import { waitingFor } from "./wait-for.ts";
import { waitUntilEnded } from "./wait-until.ts";
import { waitUntilSettled } from "./wait-until-settled.ts";
import { leavable, watch } from "./watch.ts";

/** A handle on an execution. */
export function runHandle(context: RuntimeContext, local: LocalWork, workflowId: string, requireOpen: (action: string) => void): Run {
  const { store, registry } = context;
  const { sessions } = local;
  const dispatch = async (command: Command): Promise<boolean> => {
    requireOpen(command.type);
    return commandLocally(context, local, workflowId, command);
  };
  const change = async (command: Command): Promise<void> => void (await dispatch(command));
  return {
    workflowId,
    snapshot: () => requireSnapshot(store, workflowId),
    waits: async () => waits(await requireSnapshot(store, workflowId)),
    explain: () => explainRun(context, workflowId),
    waitFor: waitingFor(context, sessions, workflowId),
    settled: (options = {}) =>
      withEnd(context, options, { workflowId, awaited: "settle", method: "run.settled" }, (end) =>
        waitUntilSettled(context, sessions, workflowId, end),
      ),
    result: (options = {}) =>
      withEnd(context, options, { workflowId, awaited: "end", method: "run.result" }, async (end) =>
        outputOf(await waitUntilEnded(context, sessions, workflowId, end)),
      ),
    watch(options = {}) {
      const end = endOfWait(context, options, { workflowId, awaited: "end", method: "run.watch", more: ["after"] });
      const { after = -1 } = options;
      return leavable((left) => {
        const request = { workflowId, end: AbortSignal.any([end.signal, left]) };
        const openChanges = (): ChangesOf => new ChangesOf(context, sessions, request);
        return watch({ store, registry, workflowId, after, openChanges, over: end.cancel, left });
      });
    },
    async resume(options = {}) {
      const { payload, by, idempotencyKey } = options;
      return { applied: await dispatch({ type: "resume", target: targetOf(options), payload, by, idempotencyKey }) };
    },
    async signal(name, payload, options = {}) {
      const { key, ttl, idempotencyKey } = options;
      return { applied: await dispatch({ type: "signal", name, payload, key, ttl, idempotencyKey }) };
    },
    cancel: async ({ reason, ...place } = {}) => change({ type: "cancel", target: targetOf(place), reason }),
    retry: async ({ step } = {}) => change({ type: "retry", node: step }),
    addItem: async (step, item) => change({ type: "addItem", node: step, item }),
    closeMap: async (step) => change({ type: "closeMap", node: step }),
    completeMap: async (step) => change({ type: "completeMap", node: step }),
  };
}

/** Without its definition, which may be lost or changed, less can be said. */
async function explainRun({ store, registry }: RuntimeContext, workflowId: string): Promise<Explanation> {
  const snapshot = await requireSnapshot(store, workflowId);
  const workflow = await registry.pinnedWithoutCode(workflowId, snapshot.definition.hash).catch((error: unknown) => {
    if (StepfoldError.is(error, "DEFINITION_MISSING") || StepfoldError.is(error, "DEFINITION_CHANGED")) return null;
    throw error;
  });
  return explain(snapshot, workflow?.compiled);
}

function outputOf({ workflowId, status, ending, output = null, error, currentNodeId }: Snapshot): Json {
  const end = ending?.status ?? status;
  if (end === "completed") return output;
  const undone = error?.notUndone && { notUndone: error.notUndone };
  if (end === "cancelled") {
    const reason = error?.code === "EXECUTION_CANCELLED" && { reason: error.message };
    throw new StepfoldError("EXECUTION_CANCELLED", { workflowId, ...reason, ...undone }, { cause: error });
  }
  const nodeId = error?.nodeId ?? currentNodeId;
  const details = { workflowId, message: error?.message ?? "unknown", ...(nodeId !== null && { nodeId }), ...undone };
  const more = { ...(error?.code !== undefined && { code: error.code }), ...(error?.cause && { cause: error.cause }) };
  throw new StepfoldError("EXECUTION_FAILED", { ...details, ...more }, { cause: error });
}
