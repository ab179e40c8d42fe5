import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Checkpoint } from "../../core/snapshot/checkpoint.ts";
import type { Event, StartedEvent } from "../../core/snapshot/event.ts";
import type { ParentLink } from "../../core/snapshot/parts/lineage.ts";
import type { ScheduledBy } from "../../core/snapshot/parts/message.ts";
import { begin } from "../../core/transition/begin.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { evolve, withConsequences } from "../../core/transition/evolve.ts";
import { requireUnreserved } from "../../core/values/ids/reserved-ids.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import { type StartAtOptions, startEvent } from "../../engine/workflow/start-event.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import { noticeOf } from "../context/changes.ts";
import type { CommandResult } from "../context/command-result.ts";
import { makeCommit } from "../context/make-commit.ts";
import { publishCommit, type RuntimeContext } from "../context/runtime-context.ts";
import { maxUnavailableMs, persistForCaller, writeForCaller } from "../context/store/persist.ts";
import { type TimedClaim, takesTaskQueue } from "../context/timed-claim.ts";

/** An execution to start. */
export interface ExecutionStart {
  readonly prepared: PreparedWorkflow;
  readonly options: Omit<StartAtOptions, "externalPayload" | "startAt">;
  /** The execution that starts this one as its detached child. It waits for the end if the link has a `waitId`. */
  readonly parent?: ParentLink | undefined;
  /** The first node is not performed before this time. */
  readonly startAt?: EpochMs | undefined;
  /** Only for schedules. A deleted schedule does not keep its id taken: its name belongs to whoever uses it next. */
  readonly reusesId?: boolean | undefined;
  /** The schedule that starts the execution. */
  readonly scheduledBy?: ScheduledBy | undefined;
  /** The incarnation of the execution. Default: a new id. */
  readonly incarnation?: string | undefined;
  /** True if the definition was handed over and has no name in this runtime. */
  readonly unnamed?: boolean | undefined;
  /** Present if the execution goes on from the state of another one: a fork, a restart, or a snapshot that `adopt` takes over. */
  readonly fromCheckpoint?: FromCheckpoint | undefined;
  /** Returns false once the start is no longer wanted. It is asked before each try of the write, because a store may be silent for long. */
  readonly isCurrent?: (() => boolean) | undefined;
}

/** How an execution begins that goes on from another one. */
interface FromCheckpoint {
  /** Returns the state that the execution takes over, if it begins at this time of the store's clock. */
  checkpointAt(at: EpochMs): Checkpoint;
  /** A step of the origin was performed. Else the start still counts for the rate of the workflow. */
  readonly hasBegun: boolean;
  /** A node at which a path stands, which is not performed but gets this output. */
  readonly completes?: { readonly nodeId: string; readonly output: unknown };
}

/** An execution that a call has made, or that was made before. */
export interface MadeExecution {
  readonly workflowId: string;
  readonly isNew: boolean;
}

/** The result of a start. `committed` is false if the id is taken: the existing execution has to be compared with `event`. */
export interface StartResult extends CommandResult {
  /** The start event of the execution. */
  readonly event: StartedEvent;
  /** The claim, if one was asked for; else null. An execution with a permit or a rate is claimed only after it is stored: null. */
  readonly claim: TimedClaim | null;
}

/**
 * Stores a new execution.
 *
 * @param lease claims the execution in the same write; null if this process has no slot for it
 * @throws StepfoldError `WORKFLOW_EXISTS` if an execution with this id was deleted lately; `STORE_UNAVAILABLE`, `OUTCOME_UNKNOWN`;
 * `OPTION_INVALID`, `INPUT_INVALID` and other errors of `isRefusedStart`
 */
export async function startExecution(context: RuntimeContext, request: ExecutionStart, lease: Lease | null): Promise<StartResult> {
  const { environment, registry, clock } = context;
  const untilMs = environment.monotonicMs() + maxUnavailableMs;
  const patiently = <T>(call: () => Promise<T>): Promise<T> => persistForCaller(environment, call, untilMs);
  const at = await patiently(() => clock.now());
  const event = newStartEvent(context, request, at);
  const draft = begin(request.prepared.compiled, event);
  const events: Event[] = [withConsequences(draft, event)];
  if (request.fromCheckpoint?.completes) events.push(completion(draft, request.fromCheckpoint.completes, at, context.setting.limits));
  const commit = { ...makeCommit(context, draft, events), ...(request.reusesId && { reusesId: true as const }) };
  const ensureStored = (): Promise<void> => registry.ensureStored(request.prepared, environment.monotonicMs());
  await patiently(ensureStored);
  try {
    const what = { workflowId: event.workflowId, action: "start" };
    const tried = async <T>(call: () => Promise<T>): Promise<T> => {
      await ensureStored();
      if (request.isCurrent?.() === false) throw new StepfoldError("FENCE_LOST", { workflowId: event.workflowId });
      return call();
    };
    const write = <T>(call: () => Promise<T>): Promise<T> => writeForCaller(context, what, () => tried(call), untilMs);
    // an execution that starts later is not due yet, so it is not claimed; nor is one that this process leaves to others
    const isOwn = event.startAt === undefined && takesTaskQueue(context, event.taskQueue);
    const { claim, isAnnounced } = await create(context, draft, commit, isOwn ? lease : null, write);
    // a failover during the start may have lost the definition but not the start, so the definition is put again
    await ensureStored().catch(() => undefined);
    const { workflowId, incarnation, version } = draft;
    publishCommit(context, noticeOf(draft), commit.events);
    const wakeUp = claim ? null : { workflowId, incarnation, version, wakeAt: commit.wakeAt, isAnnounced };
    return { event, committed: true, claim, wakeUp };
  } catch (error) {
    if (!StepfoldError.is(error, "WORKFLOW_EXISTS") || error.details.deletedAt !== undefined) throw error;
    // the existing execution may be due and its process dead, so a worker here looks. The queue got its message with the first commit
    const wakeUp = { workflowId: event.workflowId, version: 0, wakeAt: 0, isAnnounced: true };
    return { event, committed: false, claim: null, wakeUp };
  }
}

function newStartEvent(
  { environment, setting, store }: RuntimeContext,
  { prepared, options, parent, startAt, scheduledBy, incarnation = environment.newId(), unnamed, reusesId, fromCheckpoint }: ExecutionStart,
  at: number,
): StartedEvent {
  if (!reusesId) requireUnreserved({ workflowId: options.workflowId, definition: prepared.compiled.definition.id });
  const checkpoint = fromCheckpoint?.checkpointAt(at);
  const initialNodeId = checkpoint?.state.currentNodeId ?? options.initialNodeId;
  const begun = startEvent(
    prepared,
    { ...options, initialNodeId, startAt },
    { now: () => at, newId: () => environment.newId() },
    setting.limits,
  );
  // an execution that goes on from one that has begun does not count for the rate once more
  const { rate, ...free } = begun;
  const event: StartedEvent = {
    ...(fromCheckpoint?.hasBegun ? free : begun),
    incarnation,
    ...(parent && { parent }),
    ...(scheduledBy && { scheduledBy }),
    ...(unnamed && { unnamed }),
    ...(checkpoint && { checkpoint, sizeBytes: checkpoint.state.sizeBytes }),
  };
  requireStoreFor(store, event);
  return event;
}

/** @throws StepfoldError `OPTION_INVALID` if the store cannot keep what an execution needs */
function requireStoreFor({ features, name }: RuntimeContext["store"], { permit, rate, taskQueue }: StartedEvent): void {
  const refused = (option: string, why: string): StepfoldError =>
    new StepfoldError("OPTION_INVALID", { option, reason: `cannot be kept by the store "${name}": ${why}` });
  if ((permit || rate) && !features.permits)
    throw refused(permit ? "concurrency" : "rateLimit", "it does not know which executions are running");
  if (taskQueue !== undefined && !features.taskQueues) throw refused("taskQueue", "its claims do not tell task queues apart");
}

/** Makes the event that completes a node without performing it, and applies it to the draft. */
function completion(draft: Draft, { nodeId, output }: NonNullable<FromCheckpoint["completes"]>, at: EpochMs, limits: Limits): Event {
  const { id: pathId, turn, attempts } = draft.paths.find((path) => path.nodeId === nodeId && path.status === "ready")!;
  const kept = normalise(output, `The output of "${nodeId}"`, limits);
  const event: Event = {
    type: "completed",
    version: draft.version + 1,
    at,
    pathId,
    turn,
    nodeId,
    attempt: attempts + 1,
    startedAt: at,
    output: kept.value,
    sizeBytes: kept.sizeBytes,
  };
  evolve(draft, event);
  return withConsequences(draft, event);
}

/** Writes the first commit: with a claim if there is a lease, else with a message to the queue in the same transaction if possible. */
async function create(
  { store, environment, wakeUpSender }: RuntimeContext,
  draft: Draft,
  commit: Commit,
  lease: Lease | null,
  write: <T>(call: () => Promise<T>) => Promise<T>,
): Promise<{ readonly claim: TimedClaim | null; readonly isAnnounced: boolean }> {
  if (!lease) {
    const send = async (whole: Commit): Promise<void> => void (await write(() => store.create(whole, {})));
    return { claim: null, isAnnounced: await wakeUpSender.sendWith(draft, commit, send) };
  }
  const askedAtMs = environment.monotonicMs();
  const claim: Claim | null = await write(() => store.create(commit, { claim: lease }));
  return { claim: claim && { claim, snapshot: closeDraft(draft), askedAtMs }, isAnnounced: false };
}
