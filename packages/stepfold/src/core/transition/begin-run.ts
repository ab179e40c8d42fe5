import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { CompletedEvent, ContinuedEvent } from "../snapshot/event.ts";
import { largeBytes, referring } from "../snapshot/large-values.ts";
import { noVariables, wholeValues, withValues } from "../snapshot/parts/variables.ts";
import type { Wait } from "../snapshot/parts/wait.ts";
import type { KeptSignal } from "../snapshot/snapshot.ts";
import { type EpochMs, type Json, sizeOfJson } from "../values/json.ts";
import { closeDraft } from "./draft/close-draft.ts";
import { type Draft, newDraft } from "./draft/draft.ts";
import { type DraftPath, firstPath } from "./draft/draft-path.ts";
import { latestValues } from "./draft/draft-variables.ts";
import { historyBytesOf } from "./draft/held-size.ts";
import { openDraft } from "./draft/open-draft.ts";
import { forgetChildren, terminate } from "./paths/end-path.ts";
import { enter } from "./paths/leave.ts";
import { settle } from "./settle.ts";

/** A run that ends sooner than `quickMs` is quick. After `freeRuns` quick runs in a row, each next one waits for `delayMs`. */
const [quickMs, freeRuns, delayMs] = [1_000, 1_000, 1_000];

/** The run that a step begins with `continueAs`. */
export interface NextRun {
  readonly workflow: CompiledWorkflow;
  readonly firstNodeId: string;
  readonly input?: Json;
  /** The deadline that the workflow sets for the run. */
  readonly deadlineAt?: EpochMs | undefined;
}

/** What a run takes over from the run before it. */
type Carried = Pick<ContinuedEvent, "metadata" | "inbox" | "variables">;

/** Returns what the next run takes over: the metadata, signals that no step has taken, and the latest values of the variables. */
export function carriedTo(draft: Draft, { at, metadata = draft.metadata, ...written }: Changes): Carried & { readonly bytes: number } {
  const inbox = draft.inbox.filter(({ expiresAt }) => expiresAt > at).map(withoutReference);
  const variables = { ...latestValues(draft.variables), ...wholeValues(draft.variables, written) };
  const carried: Carried = {
    metadata,
    ...(inbox.length > 0 && { inbox: Object.freeze(inbox) }),
    ...(Object.keys(variables).length > 0 && { variables: Object.freeze(variables) }),
  };
  return { ...carried, bytes: Object.values(carried).reduce((bytes, value) => bytes + sizeOfJson(value as Json), 0) };
}

/** What the step that ends a run changes: variables after their reducers, and the whole metadata. */
type Changes = Pick<CompletedEvent, "at" | "variables" | "appended" | "metadata">;

/** Removes the place of a large payload in the events of this run, because the next run is read without them. */
function withoutReference({ inEvents: _, ...signal }: KeptSignal): KeptSignal {
  return signal;
}

/** Returns the event with which the next run begins. @param step the step that ends the present run, as it would have completed */
export function continuedEvent(draft: Draft, step: CompletedEvent, next: NextRun): ContinuedEvent {
  const { version, at, pathId, turn, nodeId, attempt, startedAt } = step;
  const { workflow, firstNodeId, input, deadlineAt: byWorkflow = Number.POSITIVE_INFINITY } = next;
  const { bytes, ...carried } = carriedTo(draft, step);
  const { givenTime } = draft;
  const deadlineAt = Math.min(givenTime?.deadlineAt ?? Number.POSITIVE_INFINITY, byWorkflow);
  const quick = quickRuns(draft, at);
  const outbox = outboxAfter(draft);
  const { restarts, descendants, totalExecutionTime = 0 } = draft;
  return {
    ...{ type: "continued", version, at, pathId, turn, nodeId, attempt, startedAt },
    run: (draft.run?.number ?? 1) + 1,
    definition: Object.freeze({ id: workflow.definition.id, hash: workflow.hash }),
    firstNodeId,
    ...(input !== undefined && { input }),
    ...(deadlineAt !== Number.POSITIVE_INFINITY && { deadlineAt }),
    ...(givenTime && { givenTime }),
    ...(quick >= freeRuns && { startAt: at + delayMs }),
    ...carried,
    ...(outbox.length > 0 && { outbox }),
    ...(quick > 0 && { quick }),
    ...(restarts > 0 && { restarts }),
    ...(descendants > 0 && { descendants }),
    totalExecutionTime: totalExecutionTime + Math.max(0, at - startedAt),
    sizeBytes: bytes + (input === undefined ? 0 : sizeOfJson(input)),
  };
}

/** Returns the messages that are still to be delivered once the run has ended: it cancels the detached executions that it waited for. */
function outboxAfter(draft: Draft): Draft["outbox"] {
  if (draft.paths.length === 1 && draft.children.size === 0) return draft.outbox;
  const copy = openDraft(draft.workflow, closeDraft(draft));
  terminate(copy);
  forgetChildren(copy);
  return copy.outbox;
}

/** How many runs in a row have ended within a second and were not moved from outside, if the present one ends at this time. */
function quickRuns({ run, createdAt = 0 }: Draft, at: EpochMs): number {
  const quick = run?.quick ?? 0;
  // a run that was braked begins a second later, and is not taken for a slow one
  const brakedMs = quick >= freeRuns ? delayMs : 0;
  return at - (run?.at ?? createdAt) < quickMs + brakedMs ? quick + 1 : 0;
}

/** Begins the next run of an execution, all of whose paths have just ended. */
export function beginRun(draft: Draft, event: ContinuedEvent, workflow: CompiledWorkflow): void {
  const { version, at, run, quick, restarts = 0, descendants = 0, totalExecutionTime, startAt, inbox = [], variables } = event;
  draft.compensations = [];
  forgetChildren(draft);
  if (draft.mapItems.size > 0) draft.mapItems = new Map();
  draft.run = Object.freeze({ number: run, since: version, at, ...(quick !== undefined && { quick }) });
  draft.restarts = restarts;
  draft.descendants = descendants;
  draft.totalExecutionTime = totalExecutionTime;
  draft.workflow = workflow;
  draft.definition = event.definition;
  draft.outbox = event.outbox ?? [];
  draft.input = event.input;
  draft.inputInEvents = undefined;
  draft.deadlineAt = event.deadlineAt;
  draft.givenTime = event.givenTime;
  draft.metadata = event.metadata;
  draft.output = undefined;
  draft.outputInEvents = undefined;
  draft.failedNodeId = null;
  draft.begun = [];
  draft.context = {};
  draft.endedSteps = null;
  draft.borrowed = {};
  draft.variables = variables ? withValues(noVariables, variables, version) : noVariables;
  draft.scopesWithOldValues = null;
  draft.schemas = undefined;
  draft.steps = 0;
  draft.sizeBytes = event.sizeBytes ?? 0;
  draft.inbox = Object.freeze(inbox.map((signal, index) => placed(draft, signal, `${version}/inbox/${index}`)));
  // the id differs in each run, so ids of waits and children, and idempotency keys, never repeat in the life of an execution
  const first: DraftPath = { ...firstPath(workflow.nodes.get(event.firstNodeId)!, version), id: String(run - 1) };
  draft.paths = [first];
  enter(first);
  if (startAt !== undefined) waitToBegin(first, startAt, at);
  settle(draft, at);
  draft.version = version;
}

/** Makes a signal with a large payload refer to its place in the event that begins the run. */
function placed({ incarnation }: Draft, signal: KeptSignal, at: string): KeptSignal {
  const isLarge = incarnation !== undefined && signal.payload !== undefined && sizeOfJson(signal.payload) >= largeBytes;
  return isLarge ? referring(signal, at, "payload") : signal;
}

/** What never changes in the life of an execution. */
type Identity = Pick<Draft, "workflowId"> &
  Partial<
    Pick<Draft, "tenant" | "unnamed" | "createdAt" | "incarnation" | "parent" | "scheduledBy" | "from" | "permit" | "rate" | "taskQueue">
  >;

/**
 * Returns the draft of an execution after the event with which one of its runs began, without the events before.
 *
 * @param execution its head or its draft at any time
 */
export function draftOfRun(
  workflow: CompiledWorkflow,
  execution: Identity,
  event: ContinuedEvent,
  onFailure: Draft["onFailure"] = null,
): Draft {
  const { workflowId, tenant, unnamed, createdAt, incarnation, parent, scheduledBy, from, permit, rate, taskQueue } = execution;
  const { definition, metadata } = event;
  const draft = newDraft({
    ...{ workflow, workflowId, definition, metadata, tenant, unnamed, createdAt, incarnation, parent, scheduledBy, from, permit, rate },
    taskQueue,
    ...{ deadlineAt: undefined, input: undefined, inputInEvents: undefined },
  });
  draft.onFailure = onFailure;
  draft.version = event.version - 1;
  draft.lastStartedAt = event.startedAt;
  draft.historyBytes = historyBytesOf(event);
  beginRun(draft, event, workflow);
  return draft;
}

/** Makes the first path wait until `startAt` before its node is performed. */
export function waitToBegin(first: DraftPath, startAt: EpochMs, openedAt: EpochMs): void {
  const wait: Wait = { id: `${first.id}@${first.turn + 1}`, kind: "timer", openedAt, resumeAt: startAt, begins: true };
  first.status = "suspended";
  first.turn++;
  first.waits = Object.freeze([Object.freeze(wait)]);
}
