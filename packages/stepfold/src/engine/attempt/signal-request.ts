import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { scopedKey } from "../../core/snapshot/address.ts";
import type { SignalBroadcast, SignalSend } from "../../core/snapshot/parts/message.ts";
import type { Wait } from "../../core/snapshot/parts/wait.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { durationMs } from "../../core/values/duration.ts";
import { checkedName } from "../../core/values/ids/checked-name.ts";
import { isWorkflowId } from "../../core/values/ids/id.ts";
import { knownIdBeside, ofTenant } from "../../core/values/ids/tenant.ts";
import type { JsonObject } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { SignalRequest } from "../node/node-definition.ts";
import type { AttemptState } from "./attempt-state.ts";
import { type ActionRequest, ifAllowed } from "./may.ts";
import { latestEnd } from "./node-times.ts";
import type { Outcome } from "./outcome.ts";

/**
 * Checks a signal that a step sends to another execution, or to all executions that wait for it. The step waits until the signal has
 * arrived.
 */
export function sentSignal(run: AttemptState, request: SignalRequest): Outcome | Promise<Outcome> {
  return request.all === true ? sentToAll(run, request) : sentToOne(run, request);
}

function sentToOne(run: AttemptState, { to: named, workflow, name, key, payload, ttl }: SignalRequest): Outcome | Promise<Outcome> {
  const { context, task } = run;
  const { root } = run.scopeDraft;
  if (workflow !== undefined) throw invalid("workflow", "can only be used with `all`, not with `to`");
  if (!isWorkflowId(named)) throw invalid("to", "must name an execution by text of 1 to 255 printable characters");
  const to = knownIdBeside(root, named);
  if (root.incarnation === undefined) throw invalid("to", "needs a runtime, which delivers the signal");
  const kept = payload === undefined ? undefined : normalise(payload, `The payload of node "${task.nodeId}"`, context.limits);
  const signal: SignalSend = Object.freeze({
    type: "signal",
    to,
    name: checkedName("name", name),
    ...(key !== undefined && { key: checkedName("key", key) }),
    ...(kept && { payload: kept.value }),
    ...(ttl !== undefined && { ttlMs: durationMs(ttl) }),
  });
  if (!context.may && !isOfFamily(root, to)) throw denied(task.nodeId, to);
  const asked = { action: "signal", from: senderOf(run), signal: signal.name, id: to, tenant: root.tenant } as const;
  return ifAllowed(context.may, asked, (wasAsked) => {
    const told = { workflowId: to, signal: signal.name, ...(signal.key !== undefined && { key: signal.key }) };
    return waitingForArrival(run, told, kept?.sizeBytes ?? 0, wasAsked ? Object.freeze({ ...signal, allowed: true as const }) : signal);
  });
}

function sentToAll(run: AttemptState, { to, workflow, name, key, payload, ttl }: SignalRequest): Outcome | Promise<Outcome> {
  const { context, task } = run;
  const { root } = run.scopeDraft;
  if (to !== undefined) throw invalid("to", "cannot be used with `all`");
  if (ttl !== undefined) throw invalid("ttl", "cannot be used with `all`: such a signal is not kept");
  if (key === undefined) throw invalid("key", "is required with `all`");
  if (root.incarnation === undefined) throw invalid("all", "needs a runtime, which delivers the signal");
  const kept = payload === undefined ? undefined : normalise(payload, `The payload of node "${task.nodeId}"`, context.limits);
  const about = {
    name: checkedName("name", name),
    key: checkedName("key", key),
    ...(workflow !== undefined && { workflow: checkedName("workflow", workflow) }),
  };
  if (!context.may) throw deniedToAll(task.nodeId);
  const { name: signal, ...meant } = about;
  const asked = { action: "broadcast", from: senderOf(run), signal, ...meant, id: "*", tenant: root.tenant } as const;
  return ifAllowed(context.may, asked, () => {
    const sent = Object.freeze({ type: "broadcast" as const, ...about, ...(kept && { payload: kept.value }), allowed: true as const });
    return waitingForArrival(run, { signal, ...meant }, kept?.sizeBytes ?? 0, sent);
  });
}

/**
 * Returns the outcome of a step that waits until its signal has arrived. @param told the payload of the wait, which describes the signal
 */
function waitingForArrival(
  run: AttemptState,
  told: JsonObject,
  sizeBytes: number,
  signal: SignalSend | SignalBroadcast,
): Outcome & { readonly type: "suspended" } {
  const { context, startedAt, task } = run;
  const endedAt = context.now();
  const timeoutAt = latestEnd(run, endedAt);
  const wait: Wait = Object.freeze({
    id: `${scopedKey(task.scope ?? "", task.pathId)}@${task.turn + 1}`,
    kind: "delivery",
    payload: Object.freeze(told),
    ...(timeoutAt !== undefined && { timeoutAt }),
  });
  return { type: "suspended", startedAt, endedAt, waits: Object.freeze([wait]), sizeBytes, signal };
}

function senderOf({ scopeDraft: { root }, task }: AttemptState): ActionRequest["from"] {
  return { workflowId: root.workflowId, definition: root.definition, nodeId: task.nodeId, unnamed: root.unnamed === true };
}

/**
 * True for the id of the execution itself, of its parent, or of an execution that it has started. Such an execution is recognised by its
 * generated id; if the definition has chosen the id, only while a step waits for its end.
 */
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
  const reason =
    "without the option `may`, an execution can send signals only to itself, to its parent, and to executions that it has started";
  return new StepfoldError("ACTION_DENIED", { nodeId, action: "signal", id, reason });
}

function deniedToAll(nodeId: string): StepfoldError {
  return new StepfoldError("ACTION_DENIED", { nodeId, action: "broadcast", id: "*", reason: "that needs the option `may` of the runtime" });
}

function invalid(option: string, reason: string): StepfoldError {
  return new StepfoldError("OPTION_INVALID", { option, reason });
}
