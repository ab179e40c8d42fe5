import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type Explanation, explain } from "../../core/explain/explain.ts";
import { waits } from "../../core/explain/waits.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Json } from "../../core/values/json.ts";
import type { Command } from "../../engine/commands/command.ts";
import { requireSnapshot } from "../context/require-snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { type Forking, type ForkOptions, planFork, planRestart, type RestartOptions, startForked } from "../forks/fork.ts";
import { commandLocally, type LocalWork } from "../worker/local-work.ts";
import { ChangesOf } from "./changes-of.ts";
import { endOfWait, withEnd } from "./end-of-wait.ts";
import { type Run, targetOf } from "./run.ts";
import { signalLatest } from "./signal-latest.ts";
import { waitingFor } from "./wait-for.ts";
import { waitUntilEnded } from "./wait-until.ts";
import { waitUntilSettled } from "./wait-until-settled.ts";
import { leavable, watch } from "./watch.ts";

/** A handle on an execution. */
export function runHandle(context: RuntimeContext, local: LocalWork, workflowId: string, requireOpen: (action: string) => void): Run {
  const { store, registry } = context;
  const { sessions } = local;
  const dispatch = async (command: Command, id = workflowId): Promise<boolean> => {
    requireOpen(command.type);
    return commandLocally(context, local, id, command);
  };
  const change = async (command: Command): Promise<void> => void (await dispatch(command));
  const forkPlan = (action: string, options: ForkOptions): Promise<Forking> => {
    requireOpen(action);
    return planFork(context, workflowId, options);
  };
  const restartPlan = (action: string, options: RestartOptions): Promise<Forking> => {
    requireOpen(action);
    return planRestart(context, workflowId, options);
  };
  const going = async (forking: Forking): Promise<Run> =>
    runHandle(context, local, await startForked(context, local, forking), requireOpen);
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
    async signal(name, payload, { key, ttl, idempotencyKey } = {}) {
      const command: Command = { type: "signal", name, payload, key, ttl, idempotencyKey };
      return { applied: await signalLatest(context, sessions, workflowId, (id) => dispatch(command, id)) };
    },
    cancel: async ({ reason, ...place } = {}) => change({ type: "cancel", target: targetOf(place), reason }),
    retry: async ({ step } = {}) => change({ type: "retry", node: step }),
    fork: async (options = {}) => going(await forkPlan("fork", options)),
    planFork: async (options = {}) => (await forkPlan("planFork", options)).plan,
    restart: async (options = {}) => going(await restartPlan("restart", options)),
    planRestart: async (options = {}) => (await restartPlan("planRestart", options)).plan,
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
