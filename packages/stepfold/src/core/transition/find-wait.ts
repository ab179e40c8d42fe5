import type { CompiledWorkflow } from "../definition/compiled.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { addressOf, openScopes, parentKey } from "../snapshot/address.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import { isTerminal, type Snapshot } from "../snapshot/snapshot.ts";
import { type FoundPath, readTarget, select, type Target, targetText, type Wanted } from "../snapshot/target.ts";
import type { EpochMs } from "../values/json.ts";
import { deadlineIn } from "./draft/draft-status.ts";

/** An open wait and its path. */
export interface OpenWait extends FoundPath {
  readonly wait: Wait;
}

/** Returns all waits that a payload from outside can answer, in the order of the paths; the waits of children come last. */
export function openWaits(snapshot: Pick<Snapshot, "activePaths" | "childStates">): OpenWait[] {
  const open: OpenWait[] = [];
  for (const [scope, paths] of openScopes(snapshot)) {
    for (const path of paths) for (const wait of path.waits ?? []) if (isAnswered(wait)) open.push({ scope, path, wait });
  }
  return open;
}

/** Whether a payload from outside can answer a wait. */
export function isAnswered({ kind }: Wait): boolean {
  return kind === "external" || kind === "incident";
}

/**
 * Returns the wait that a resume answers. Without a target it is the only open wait.
 *
 * @throws StepfoldError `EXECUTION_ENDED`, `RESUME_AMBIGUOUS` (the details list the waits, at most 100), `WAIT_GONE`, `WAIT_EXPIRED`,
 * `NODE_UNKNOWN`, `OPTION_INVALID`
 */
export function findWait(workflow: CompiledWorkflow, snapshot: Snapshot, target: Target | undefined, now: EpochMs): OpenWait {
  const { workflowId, status } = snapshot;
  if (isTerminal(status)) throw new StepfoldError("EXECUTION_ENDED", { workflowId, status });
  const wanted = readTarget(target);
  requireNode(workflow, wanted);
  const open = openWaits(snapshot);
  const { waitId } = wanted;
  const meant = waitId === undefined ? select(snapshot, wanted, open) : open.filter(({ wait }) => wait.id === waitId);
  const named = ({ scope, path, wait }: OpenWait): { id: string; nodeId: string } => {
    return { id: wait.id, nodeId: addressOf(snapshot, scope, path.nodeId) };
  };
  if (meant.length > 1) throw new StepfoldError("RESUME_AMBIGUOUS", { workflowId, waits: meant.slice(0, maxListed).map(named) });
  const found = meant[0];
  if (!found) {
    const listed = open.slice(0, maxListed).map(named);
    throw new StepfoldError("WAIT_GONE", {
      workflowId,
      target: targetText(wanted),
      open: listed.map(({ id, nodeId }) => `${nodeId} (${id})`),
    });
  }
  const timeoutAt = answerableUntil(snapshot, found);
  if (timeoutAt !== undefined && timeoutAt <= now)
    throw new StepfoldError("WAIT_EXPIRED", { workflowId, waitId: found.wait.id, timeoutAt });
  return found;
}

/**
 * Returns the time from which a wait can no longer be answered, the earliest of these: its own `timeoutAt`, the deadlines of the scopes
 * that it is in, and the times of the other waits of its path. Undefined if there is no such time.
 */
function answerableUntil(snapshot: Snapshot, { scope, path, wait }: OpenWait): EpochMs | undefined {
  const times = path.waits!.flatMap((other) => [other === wait ? undefined : other.resumeAt, other.timeoutAt]);
  const known = times.filter((time) => time !== undefined);
  for (let key = scope; key !== ""; key = parentKey(key)) known.push(deadlineIn(snapshot.childStates![key]!));
  const last = Math.min(...known, deadlineIn(snapshot));
  return last === Number.POSITIVE_INFINITY ? undefined : last;
}

/** The largest number of waits in the details of an error. */
const maxListed = 100;

/**
 * Addresses with `/` are not checked here.
 *
 * @throws StepfoldError `NODE_UNKNOWN` if neither the workflow nor a workflow that its nodes can run has the node
 */
function requireNode(workflow: CompiledWorkflow, { node }: Wanted): void {
  if (node === undefined || node.includes("/") || workflow.nodes.has(node)) return;
  for (const inner of workflow.workflows.values()) if (inner.nodes.has(node)) return;
  throw new StepfoldError("NODE_UNKNOWN", { nodeId: node, workflow: workflow.definition.id });
}

/** Returns the workflow that a scope of a snapshot runs; undefined if the snapshot has no such scope or belongs to another workflow. */
export function workflowOf(
  workflow: CompiledWorkflow,
  { childStates = {} }: Pick<Snapshot, "childStates">,
  scope: string,
): CompiledWorkflow | undefined {
  if (scope === "") return workflow;
  const name = childStates[scope]?.workflow;
  return name === undefined ? undefined : workflowOf(workflow, { childStates }, parentKey(scope))?.workflows.get(name);
}
