import { earliestTimer } from "../../core/draft/standing.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { waits } from "../../core/explaining/waits.ts";
import { openScopes } from "../../core/snapshot/address.ts";
import { isTerminal, type Snapshot, type Status } from "../../core/snapshot/snapshot.ts";
import type { Json } from "../../core/values/json.ts";
import type { Command } from "../../engine/command.ts";
import { answer, tell } from "../commands/dispatch-command.ts";
import { type Kernel, load } from "../context/runtime-context.ts";
import { type Run, targetOf } from "./run.ts";
import { ended, newsOf, until } from "./wait-until.ts";
import { watch } from "./watch.ts";

/** A handle on an execution. */
export function runOf(kernel: Kernel, workflowId: string, requireOpen: (action: string) => void): Run {
  const command = async (told: Command): Promise<void> => {
    requireOpen(told.type);
    await tell(kernel, workflowId, told);
  };
  return {
    workflowId,
    snapshot: () => load(kernel, workflowId),
    settled: () => settled(kernel, workflowId),
    result: async () => outputOf(await ended(kernel, workflowId)),
    async *watch({ after = -1 } = {}) {
      const { definition } = await load(kernel, workflowId);
      const workflow = await kernel.registry.pinned(workflowId, definition.hash);
      yield* watch(kernel.store, workflow, workflowId, after, () => newsOf(kernel, workflowId));
    },
    async resume(options = {}) {
      requireOpen("resume");
      const { payload, by, idempotencyKey } = options;
      return answer(kernel, workflowId, { type: "resume", target: targetOf(options), payload, by, idempotencyKey });
    },
    async signal(name, payload, options = {}) {
      requireOpen("signal");
      const { key, ttl, idempotencyKey } = options;
      return answer(kernel, workflowId, { type: "signal", name, payload, key, ttl, idempotencyKey });
    },
    cancel: async ({ reason, ...place } = {}) => command({ type: "cancel", target: targetOf(place), reason }),
    retry: async ({ step } = {}) => command({ type: "retry", node: step }),
    addItem: async (step, item) => command({ type: "addItem", node: step, item }),
    closeMap: async (step) => command({ type: "closeMap", node: step }),
    completeMap: async (step) => command({ type: "completeMap", node: step }),
  };
}

function outputOf({ workflowId, status, output = null, error, currentNodeId }: Snapshot): Json {
  if (status === "completed") return output;
  if (status === "cancelled") throw new StepfoldError("EXECUTION_CANCELLED", { workflowId });
  const nodeId = error?.nodeId ?? currentNodeId;
  throw new StepfoldError("EXECUTION_FAILED", { workflowId, message: error?.message ?? "unknown", ...(nodeId === null ? {} : { nodeId }) });
}

/** The execution once it has settled, and with it those that it waits for. */
async function settled(kernel: Kernel, workflowId: string): Promise<Snapshot> {
  for (;;) {
    const snapshot = await until(kernel, workflowId, mayBeSettled, isSettled);
    const others = executionsAwaited(snapshot);
    if (others.length === 0) return snapshot;
    await Promise.all(others.map((other) => settled(kernel, other).catch(unlessGone)));
    // one that has ended has moved this one on before
    const now = await load(kernel, workflowId);
    if (now.version === snapshot.version) return now;
  }
}

function executionsAwaited(snapshot: Snapshot): string[] {
  return waits(snapshot).flatMap(({ workflowId }) => (workflowId === undefined ? [] : [workflowId]));
}

function unlessGone(error: unknown): void {
  if (!StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) throw error;
}

function mayBeSettled(status: Status): boolean {
  return isTerminal(status) || status === "paused" || status === "parked";
}

/** Nothing can move without outside help. */
function isSettled(snapshot: Snapshot): boolean {
  const { status, outbox, parked } = snapshot;
  if (parked) return parked.until === undefined;
  return (
    isTerminal(status) || (status === "paused" && !outbox && [...openScopes(snapshot)].every(([, paths]) => earliestTimer(paths) === null))
  );
}
