import type { CompiledWorkflow } from "../../definition/compiled.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import { groupOf, itemOf, localKey, parentKey } from "../../snapshot/address.ts";
import { type ChildState, type Context, isTerminal, type NodeResult, type ScopeHead, type Snapshot } from "../../snapshot/snapshot.ts";
import { type ChildDraft, type Draft, newChild, newChildCollections, newDraft, type ScopeDraft } from "./draft.ts";
import { type DraftPath, openPath } from "./draft-path.ts";
import { earliestTime } from "./draft-status.ts";
import { noteOldValues } from "./draft-variables.ts";
import { groupAt, wait } from "./join-group.ts";
import { waitsOfSnapshot } from "./listed-waits.ts";

/** Opens a snapshot for changes. The snapshot itself does not change. */
export function openDraft(workflow: CompiledWorkflow, snapshot: Snapshot): Draft {
  const draft = newDraft({
    workflow,
    workflowId: snapshot.workflowId,
    definition: snapshot.definition,
    metadata: snapshot.metadata,
    tenant: snapshot.tenant,
    unnamed: snapshot.unnamed,
    createdAt: snapshot.createdAt,
    incarnation: snapshot.incarnation,
    parent: snapshot.parent,
    scheduledBy: snapshot.scheduledBy,
    from: snapshot.from,
    permit: snapshot.permit,
    rate: snapshot.rate,
    taskQueue: snapshot.taskQueue,
    deadlineAt: snapshot.deadlineAt,
    input: snapshot.input,
    inputInEvents: snapshot.inEvents?.input,
  });
  openScope(draft, snapshot, snapshot);
  draft.givenTime = snapshot.givenTime;
  draft.closing = snapshot.closing;
  draft.run = snapshot.run;
  draft.restarts = snapshot.restarts ?? 0;
  draft.version = snapshot.version;
  draft.lastStartedAt = snapshot.lastStartedAt;
  draft.totalExecutionTime = snapshot.totalExecutionTime;
  draft.steps = snapshot.steps;
  draft.sizeBytes = snapshot.sizeBytes;
  draft.descendants = snapshot.descendants ?? 0;
  draft.historyBytes = draft.committedHistoryBytes = snapshot.historyBytes ?? 0;
  if (snapshot.answered) draft.answered = [...snapshot.answered];
  draft.keyRows = snapshot.keyRows;
  draft.schemas = snapshot.schemas;
  if (snapshot.inbox) draft.inbox = snapshot.inbox;
  if (snapshot.outbox) draft.outbox = snapshot.outbox;
  draft.parked = snapshot.parked;
  if (snapshot.compensations) draft.compensations = [...snapshot.compensations];
  openGroups(draft, snapshot);
  const { childStates, mapItems } = snapshot;
  if (childStates || mapItems) openChildCollections(draft, childStates, mapItems);
  openUndo(draft);
  if (snapshot.incarnation !== undefined) draft.listedWaits = waitsOfSnapshot(snapshot);
  return draft;
}

/** Returns the child with this key, opened for changes; null if there is none. */
export function childOf(draft: Draft, key: string): ChildDraft | null {
  const found = draft.children.get(key);
  if (!found) return null;
  return "root" in found ? found : openChild(draft, key, found);
}

/** Whether a child has not ended. */
export function isOpen(child: ChildDraft | ChildState): boolean {
  return "root" in child ? child.ended === null : !isTerminal(child.status);
}

/** Returns the scope with this key, opened for changes; null if there is none. An empty or missing key means the execution itself. */
export function scopeAt(draft: Draft, key: string | undefined): ScopeDraft | null {
  return key === undefined || key === "" ? draft : childOf(draft, key);
}

function openChild(draft: Draft, key: string, state: ChildState): ChildDraft {
  const parent = scopeAt(draft, parentKey(key));
  const workflow = parent?.workflow.workflows.get(state.workflow);
  if (!parent || !workflow) throw damaged(key, "has no parent in this snapshot");
  const group = groupOf(key);
  const path = parent.paths.find(({ children }) => children?.key === group);
  const child = newChild({
    root: draft,
    key,
    parent,
    workflow,
    workflowName: state.workflow,
    item: itemOf(key),
    deadlineAt: state.deadlineAt,
    input: state.input,
    inputInEvents: state.inEvents?.input,
  });
  openScope(child, state, state);
  child.siblings = path?.children ?? null;
  child.status = state.status;
  child.queued = state.queued ?? null;
  child.kept = state.kept === true;
  child.settled = state.settled === true;
  child.version = state.version;
  openGroups(child, state);
  draft.children.set(key, child);
  openUndo(child);
  return child;
}

/** Copies the changeable fields of a scope into its draft. */
function openScope(scope: ScopeDraft, state: ScopeHead, held: Pick<ChildState, "context" | "variables">): void {
  const { status, output, error, ending, begun, currentNodeId, inEvents } = state;
  const { nodes } = scope.workflow;
  scope.paths = state.activePaths.map((path) => openPath(path, nodes));
  if (status === "completed" || status === "failed" || status === "cancelled") scope.ended = status;
  scope.failedNodeId = ending ? ending.nodeId : isTerminal(status) ? currentNodeId : (error?.nodeId ?? null);
  scope.output = output;
  if (inEvents?.output !== undefined && output !== undefined) scope.outputInEvents = { output, at: inEvents.output };
  scope.error = error;
  scope.ending = ending;
  if (begun) scope.begun = begun;
  scope.borrowed = keptContext(scope.workflow, held.context);
  scope.context = scope.borrowed as Record<string, NodeResult[]>;
  if (!held.variables) return;
  scope.variables = held.variables;
  noteOldValues(scope);
}

/** Sets the node of the path that undoes steps, which is the only path then. The step may be one of a child with another workflow. */
function openUndo(scope: ScopeDraft): void {
  const [path] = scope.paths;
  const { scope: place, undo } = path?.undoes ?? {};
  if (place !== undefined && !undo) path!.node = scopeAt(scope.root, place)!.workflow.nodes.get(path!.nodeId)!;
}

function openGroups(scope: ScopeDraft, { rounds }: ScopeHead): void {
  if (scope.workflow.joins.length === 0) return;
  for (const path of scope.paths) if (path.status === "joining") wait(scope, joinOf(scope, path), path);
  for (const [key, { got }] of Object.entries(rounds ?? {})) {
    const bar = key.indexOf("|");
    const join = scope.workflow.nodes.get(key.slice(0, bar))?.join;
    if (!join) throw damaged(key, "does not belong to a join");
    groupAt(scope, join, key.slice(bar + 1)).roundEdges = new Set(got);
  }
}

function joinOf(
  { workflow }: ScopeDraft,
  { id, nodeId }: DraftPath,
): NonNullable<ReturnType<CompiledWorkflow["nodes"]["get"]>>["join"] & object {
  const join = workflow.nodes.get(nodeId)?.join;
  if (!join) throw damaged(id, "waits as a joining path at a node that is not a join");
  return join;
}

/** Counts the children of every path, fills `timers` and `awake`, and opens the children with the status `active` or `error`. */
function openChildCollections(draft: Draft, states: Snapshot["childStates"] = {}, items: Snapshot["mapItems"] = {}): void {
  Object.assign(draft, { ...newChildCollections(), children: new Map(Object.entries(states)), mapItems: new Map(Object.entries(items)) });
  const queued: ChildDraft[] = [];
  for (const [key, state] of draft.children) {
    const { status } = state;
    if (isTerminal(status)) continue;
    draft.openChildren++;
    if (status === "paused") {
      draft.timers.set(key, earliestTime(state, (state as ChildState).activePaths));
      continue;
    }
    const child = childOf(draft, key)!;
    draft.timers.set(key, earliestTime(child, child.paths));
    if (child.queued !== null) queued.push(child);
    else {
      draft.awake.add(child);
      child.siblings!.busy++;
      if (status === "error") child.siblings!.retrying++;
    }
  }
  queued.sort((a, b) => a.queued! - b.queued!);
  for (const child of queued) child.siblings!.queue.push(child.key);
}

/** Returns the context without results that `keep` no longer allows. A store does not know `keep`, and restores them from its events. */
function keptContext({ nodes, definition }: CompiledWorkflow, context: Context): Context {
  let kept = context;
  for (const { id } of definition.nodes) {
    const keep = keepOf(nodes.get(id)!);
    if (keep === undefined || !Object.hasOwn(context, id) || context[id]!.length <= keep) continue;
    if (kept === context) kept = { ...context };
    (kept as Record<string, readonly NodeResult[]>)[id] = Object.freeze(context[id]!.slice(-keep));
  }
  return Object.freeze(kept);
}

/** Returns how many results of a node stay in the context; undefined means all. All results of a node that can be undone stay. */
export function keepOf({
  node,
  compensation,
}: {
  readonly node: { readonly keep?: number };
  readonly compensation: unknown;
}): number | undefined {
  return compensation ? undefined : node.keep;
}

function damaged(key: string, reason: string): StepfoldError {
  return new StepfoldError("SNAPSHOT_INVALID", { pointer: `/childStates/${localKey(key)}`, reason });
}
