import type { CompletedEvent, ContinuedEvent } from "../snapshot/event.ts";
import { largeBytes, referring } from "../snapshot/large-values.ts";
import type { Run, Wait } from "../snapshot/snapshot.ts";
import { noVariables, withValues } from "../snapshot/variables.ts";
import { type EpochMs, type Json, sizeOfJson } from "../values/json.ts";
import type { Draft } from "./draft/draft.ts";
import { type DraftPath, firstPath } from "./draft/draft-path.ts";
import { latestValues } from "./draft/draft-variables.ts";
import { forgetChildren } from "./paths/end-path.ts";
import { enter } from "./paths/leave.ts";
import type { CompiledWorkflow } from "../definition/compiled.ts";

/** A run that ends sooner than `quickMs` is quick. After `freeRuns` quick runs in a row, each next one waits for `delayMs`. */
const [quickMs, freeRuns, delayMs] = [1_000, 1_000, 1_000];

/** What a step asks for that continues its execution. */
export interface Continuation {
  readonly input?: Json;
  readonly workflow: CompiledWorkflow;
  readonly firstNodeId: string;
  /** The deadline that the workflow sets for the run. */
  readonly deadlineAt?: EpochMs | undefined;
}

/** Makes the event with which the next run of an execution begins. `step` is the event that the step would have made without it. */
export function continuedEvent(draft: Draft, step: CompletedEvent, { input, workflow, firstNodeId, deadlineAt: byWorkflow = Number.POSITIVE_INFINITY }: Continuation): ContinuedEvent {
  const { type: _, output: __, terminates: ___, sizeBytes: ____, handles: _____, variables: written, metadata = draft.metadata, ...placed } = step;
  const { at } = step;
  const inbox = draft.inbox.filter(({ expiresAt }) => expiresAt > at).map(({ inEvents: _refs, ...signal }) => signal);
  const variables = { ...latestValues(draft.variables), ...written };
  const hasVariables = Object.keys(variables).length > 0;
  const given = draft.deadlineGiven ? draft.deadlineAt! : Number.POSITIVE_INFINITY;
  const deadlineAt = Math.min(given, byWorkflow);
  const quick = quickRuns(draft, at);
  const size = (value: unknown): number => (value === undefined ? 0 : sizeOfJson(value as Json));
  return {
    type: "continued",
    ...placed,
    run: (draft.run?.number ?? 1) + 1,
    ...(quick > 0 && { quick }),
    ...(draft.restarts > 0 && { restarts: draft.restarts }),
    definition: Object.freeze({ id: workflow.definition.id, hash: workflow.hash }),
    firstNodeId,
    ...(input !== undefined && { input }),
    ...(deadlineAt !== Number.POSITIVE_INFINITY && { deadlineAt }),
    ...(given < byWorkflow && { deadlineGiven: true as const }),
    ...(quick >= freeRuns && { startAt: at + delayMs }),
    metadata,
    ...(inbox.length > 0 && { inbox }),
    ...(hasVariables && { variables: Object.freeze(variables) }),
    sizeBytes: size(input) + size(metadata) + (inbox.length > 0 ? size(inbox) : 0) + (hasVariables ? size(variables) : 0),
  };
}

/** How many runs in a row have ended within a second, if the present one ends at this time. */
function quickRuns({ run, createdAt = 0 }: Draft, at: EpochMs): number {
  // a run that was braked begins a second later, and is not taken for a slow one
  const braked = (run?.quick ?? 0) >= freeRuns ? delayMs : 0;
  return at - (run?.at ?? createdAt) < quickMs + braked ? (run?.quick ?? 0) + 1 : 0;
}

/** Begins the next run of an execution, all of whose paths have just ended. Messages that are still to be delivered stay. */
export function beginRun(draft: Draft, event: ContinuedEvent): void {
  const { version, at, run, quick, restarts = 0, definition, firstNodeId, input, deadlineAt, deadlineGiven, startAt, inbox = [], variables, metadata } = event;
  const workflow = draft.next ?? draft.workflow;
  draft.next = undefined;
  draft.compensations = [];
  forgetChildren(draft);
  if (draft.mapItems.size > 0) draft.mapItems = new Map();
  draft.run = Object.freeze({ number: run, since: version, at, ...(quick !== undefined && { quick }) }) satisfies Run;
  draft.restarts = restarts;
  draft.workflow = workflow;
  draft.definition = definition;
  draft.input = input;
  draft.inputInEvents = undefined;
  draft.deadlineAt = deadlineAt;
  draft.deadlineGiven = deadlineGiven;
  draft.metadata = metadata;
  draft.output = undefined;
  draft.outputInEvents = undefined;
  draft.error = undefined;
  draft.failedNodeId = null;
  draft.ending = undefined;
  draft.begun = [];
  draft.context = {};
  draft.borrowed = {};
  draft.variables = variables ? withValues(noVariables, variables, version) : noVariables;
  draft.scopesWithOldValues = null;
  draft.schemas = undefined;
  draft.steps = 0;
  draft.sizeBytes = 0;
  draft.inbox = inbox.map((signal, index) =>
    draft.incarnation !== undefined && signal.payload !== undefined && sizeOfJson(signal.payload) >= largeBytes
      ? referring(signal, `${version}/inbox/${index}`, "payload")
      : signal,
  );
  // the id differs in each run, so ids of waits, of children and idempotency keys never repeat in the life of an execution
  const first: DraftPath = { ...firstPath(workflow.nodes.get(firstNodeId)!, version), id: String(run - 1) };
  draft.paths = [first];
  enter(first);
  if (startAt !== undefined) waitToBegin(first, startAt, at);
}

/** Makes the first path wait until `startAt` before its node is performed. */
export function waitToBegin(first: DraftPath, startAt: EpochMs, openedAt: EpochMs): void {
  const wait: Wait = { id: `${first.id}@${first.turn + 1}`, kind: "timer", openedAt, resumeAt: startAt, begins: true };
  first.status = "suspended";
  first.turn++;
  first.waits = Object.freeze([Object.freeze(wait)]);
}

