import { presentNode } from "../../snapshot/address.ts";
import { leanHead } from "../../snapshot/large-values.ts";
import { noVariables } from "../../snapshot/parts/variables.ts";
import type { ChildHead, ChildState, RetryState, Round, ScopeHead, Snapshot, SnapshotHead } from "../../snapshot/snapshot.ts";
import type { ChildDraft, Draft, ScopeDraft } from "./draft.ts";
import { closePath, earliestRetry } from "./draft-path.ts";
import { statusOf } from "./draft-status.ts";
import { type ListedWait, ListedWaits } from "./listed-waits.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Returns the frozen snapshot of a draft. The draft can still be changed afterwards.
 *
 * @param mark is called with the snapshot just before it is frozen, and may add properties to it
 */
export function closeDraft(draft: Draft, mark?: (snapshot: Snapshot) => void): Snapshot {
  const snapshot: Mutable<Snapshot> = Object.assign(headFields(draft), { context: closeContext(draft) });
  if (draft.variables !== noVariables) snapshot.variables = draft.variables;
  if (draft.children.size > 0) snapshot.childStates = Object.freeze(childStates(draft));
  if (draft.mapItems.size > 0) snapshot.mapItems = Object.freeze(Object.fromEntries(draft.mapItems));
  if (draft.compensations.length > 0) snapshot.compensations = Object.freeze([...draft.compensations]);
  if (draft.answered.length > 0) snapshot.answered = Object.freeze([...draft.answered]);
  if (draft.schemas) snapshot.schemas = draft.schemas;
  mark?.(snapshot);
  return Object.freeze(snapshot);
}

/** Returns the head that a commit writes: the snapshot without what `restore` reads from the events, such as results and large values. */
export function closedHead(draft: Draft): SnapshotHead {
  return Object.freeze(leanHead(headFields(draft)));
}

/** Returns the children that have changed since the last call, with null for a deleted child. A commit writes only these. */
export function takeChanges(draft: Draft): { readonly key: string; readonly head: ChildHead | null }[] {
  const { changed, dropped } = draft;
  if (changed.size === 0 && dropped.length === 0) return [];
  const changes: { readonly key: string; readonly head: ChildHead | null }[] = dropped.map((key) => ({ key, head: null }));
  draft.dropped = [];
  for (const key of changed) {
    const child = draft.children.get(key)!;
    if ("root" in child) changes.push({ key, head: Object.freeze(leanHead(childFields(child))) });
    else {
      const { context: _, variables: __, ...head } = child;
      changes.push({ key, head: Object.freeze(leanHead(head)) });
    }
  }
  changed.clear();
  return changes;
}

/**
 * Returns the waits that the next commit must list in the store; undefined if they have not changed or, with `isWhole`, if there are none.
 * It must be called before `takeChanges`, which clears the list of changed children.
 *
 * @param isWhole true if the commit writes all columns of the list, so that the waits are written even if they have not changed
 */
export function takeListedWaits(draft: Draft, isWhole: boolean): readonly ListedWait[] | undefined {
  draft.listedWaits ??= new ListedWaits([]);
  const { paths, children, changed, dropped, listedWaits } = draft;
  listedWaits.put("", paths);
  for (const key of dropped) listedWaits.put(key, []);
  for (const key of changed) {
    const child = children.get(key)!;
    listedWaits.put(key, "root" in child ? child.paths : child.activePaths);
  }
  const open = listedWaits.take();
  if (!isWhole) return open ?? undefined;
  const all = open ?? listedWaits.list();
  return all.length > 0 ? all : undefined;
}

function childStates(draft: Draft): Record<string, ChildState> {
  const states: Record<string, ChildState> = {};
  for (const [key, child] of draft.children) {
    states[key] = closeChild(child);
  }
  return states;
}

/** Returns a child in the form that a snapshot holds. */
export function closeChild(child: ChildDraft | ChildState): ChildState {
  if (!("root" in child)) return child;
  const state: Mutable<ChildState> = Object.assign(childFields(child), { context: closeContext(child) });
  if (child.variables !== noVariables) state.variables = child.variables;
  return Object.freeze(state);
}

function closeContext(scope: ScopeDraft): Snapshot["context"] {
  const { context } = scope;
  for (const nodeId in context) Object.freeze(context[nodeId]);
  scope.borrowed = Object.freeze(context);
  return context;
}

function headFields(draft: Draft): Mutable<SnapshotHead> {
  const { ended, paths, inbox, outbox, parent, scheduledBy, from, permit, rate, run } = draft;
  const head: Mutable<SnapshotHead> = {
    schema: 1,
    workflowId: draft.workflowId,
    definition: draft.definition,
    status: statusOf(draft),
    currentNodeId: presentNode(paths) ?? draft.failedNodeId,
    activePaths: Object.freeze(paths.map(closePath)),
    version: draft.version,
    metadata: draft.metadata,
    steps: draft.steps,
    sizeBytes: draft.sizeBytes,
  };
  const retryState = ended ? undefined : retryStateOf(draft);
  if (retryState) head.retryState = retryState;
  if (draft.parked) head.parked = draft.parked;
  if (draft.lastStartedAt !== undefined) head.lastStartedAt = draft.lastStartedAt;
  if (draft.totalExecutionTime !== undefined) head.totalExecutionTime = draft.totalExecutionTime;
  closeScope(draft, head);
  if (inbox.length > 0 && !ended) head.inbox = inbox;
  if (draft.tenant !== undefined) head.tenant = draft.tenant;
  if (draft.unnamed) head.unnamed = true;
  if (draft.createdAt !== undefined) head.createdAt = draft.createdAt;
  if (draft.incarnation !== undefined) {
    head.incarnation = draft.incarnation;
    head.historyBytes = draft.historyBytes;
  }
  if (parent) head.parent = parent;
  if (scheduledBy) head.scheduledBy = scheduledBy;
  if (from) head.from = from;
  if (draft.givenTime) head.givenTime = draft.givenTime;
  if (permit) head.permit = permit;
  if (rate) head.rate = rate;
  if (draft.taskQueue !== undefined) head.taskQueue = draft.taskQueue;
  if (draft.closing) head.closing = draft.closing;
  if (run) head.run = run;
  if (draft.restarts > 0) head.restarts = draft.restarts;
  if (draft.descendants > 0) head.descendants = draft.descendants;
  if (draft.keyRows) head.keyRows = draft.keyRows;
  if (outbox.length > 0) head.outbox = outbox;
  return head;
}

function childFields(child: ChildDraft): Mutable<ChildHead> {
  const { ended, paths, workflowName, status, version } = child;
  const head: Mutable<ChildHead> = {
    workflow: workflowName,
    status,
    // a replay may close a child just before it ends
    currentNodeId: ended ? child.failedNodeId : (presentNode(paths) ?? child.failedNodeId),
    activePaths: Object.freeze(paths.map(closePath)),
    version,
  };
  closeScope(child, head);
  if (child.queued !== null) head.queued = child.queued;
  if (child.kept) head.kept = true;
  if (child.settled) head.settled = true;
  return head;
}

/** Adds the optional fields that every kind of scope can have to a head. */
function closeScope(scope: ScopeDraft, head: Mutable<ScopeHead>): void {
  if (scope.input !== undefined) head.input = scope.input;
  if (scope.output !== undefined) head.output = scope.output;
  const { inputInEvents, outputInEvents } = scope;
  const output = !scope.ended && outputInEvents?.output === scope.output ? outputInEvents?.at : undefined;
  if (inputInEvents !== undefined || output !== undefined)
    head.inEvents = Object.freeze({
      ...(inputInEvents !== undefined && { input: inputInEvents }),
      ...(output !== undefined && { output }),
    });
  if (scope.deadlineAt !== undefined) head.deadlineAt = scope.deadlineAt;
  if (scope.error !== undefined) head.error = scope.error;
  if (scope.ending) head.ending = scope.ending;
  if (scope.begun.length > 0) head.begun = scope.begun;
  const rounds = roundsOf(scope);
  if (rounds) head.rounds = rounds;
}

function roundsOf({ groups, ended }: ScopeDraft): Record<string, Round> | undefined {
  if (!groups || ended) return undefined;
  let rounds: Record<string, Round> | undefined;
  for (const { key, roundEdges } of groups.values()) {
    if (!roundEdges) continue;
    rounds ??= {};
    rounds[key] = Object.freeze({ got: Object.freeze([...roundEdges]) });
  }
  return rounds && Object.freeze(rounds);
}

/** Returns the retry that is due first in the execution and its `awake` children; undefined if none is pending. */
function retryStateOf(draft: Draft): RetryState | undefined {
  let first = earliestRetry(draft.paths);
  for (const child of draft.awake) first = earliestRetry(first ? [first, ...child.paths] : child.paths);
  if (!first) return undefined;
  const { nodeId, attempts, nextRetryAt } = first;
  return Object.freeze(nextRetryAt === undefined ? { nodeId, attempts } : { nodeId, attempts, nextRetryAt });
}
