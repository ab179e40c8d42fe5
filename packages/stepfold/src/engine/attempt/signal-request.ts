import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { scopedKey } from "../../core/snapshot/address.ts";
import type { SignalSend } from "../../core/snapshot/message.ts";
import type { Wait } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { durationMs } from "../../core/values/duration.ts";
import { isWorkflowId } from "../../core/values/id.ts";
import { ofTenant } from "../../core/values/tenant.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { SignalRequest } from "../node/node-definition.ts";
import type { AttemptState } from "./attempt-state.ts";
import { latestEnd } from "./latest-end.ts";
import { ifAllowed } from "./may.ts";
import type { Outcome } from "./outcome.ts";
import { checkedName } from "./suspension.ts";

/** A signal that a step sends to another execution, checked; the step waits until it has arrived. */
export function sentSignal(run: AttemptState, { to, name, key, payload, ttl }: SignalRequest): Outcome | Promise<Outcome> {
  const { around, startedAt, place, task } = run;
  const { root } = place;
  if (!isWorkflowId(to)) throw invalid("to", "must name an execution by text of 1 to 255 printable characters");
  if (root.incarnation === undefined) throw invalid("to", "needs a runtime, which delivers the signal");
  const kept = payload === undefined ? undefined : normalise(payload, `The payload of node "${task.nodeId}"`, around.limits);
  const signal: SignalSend = Object.freeze({
    type: "signal",
    to,
    name: checkedName("name", name),
    ...(key !== undefined && { key: checkedName("key", key) }),
    ...(kept && { payload: kept.value }),
    ...(ttl !== undefined && { ttlMs: durationMs(ttl) }),
  });
  if (!around.may && !isOfFamily(root, to)) throw denied(task.nodeId, to);
  const from = { workflowId: root.workflowId, definition: root.definition, nodeId: task.nodeId, unnamed: root.unnamed === true };
  return ifAllowed(around.may, { action: "signal", from, signal: signal.name, id: to, tenant: root.tenant }, (isAsked) => {
    const endedAt = around.now();
    const timeoutAt = latestEnd(run, endedAt);
    const wait: Wait = Object.freeze({
      id: `${scopedKey(task.scope ?? "", task.pathId)}@${task.turn + 1}`,
      kind: "delivery",
      payload: Object.freeze({ workflowId: to, signal: signal.name, ...(signal.key !== undefined && { key: signal.key }) }),
      ...(timeoutAt !== undefined && { timeoutAt }),
    });
    const allowed = isAsked ? Object.freeze({ ...signal, allowed: true as const }) : signal;
    return { type: "suspended", startedAt, endedAt, waits: Object.freeze([wait]), sizeBytes: kept?.sizeBytes ?? 0, signal: allowed };
  });
}

/** True for the execution itself, that which has begun it, and those that it has begun. */
function isOfFamily(root: Draft, id: string): boolean {
  const { workflowId, parent, tenant, paths, children } = root;
  if (id === workflowId || id === parent?.workflowId || id.startsWith(ofTenant(tenant, `${workflowId}/`))) return true;
  const isAwaited = ({ waits = [] }: { readonly waits?: readonly Wait[] | undefined }): boolean =>
    waits.some((wait) => wait.kind === "child" && wait.workflowId === id);
  return (
    paths.some(isAwaited) || [...children.values()].some((child) => ("root" in child ? child.paths : child.activePaths).some(isAwaited))
  );
}

function denied(nodeId: string, id: string): StepfoldError {
  const reason = "without the option `may` an execution tells only itself, that which has begun it, and those that it has begun";
  return new StepfoldError("ACTION_DENIED", { nodeId, action: "signal", id, reason });
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
