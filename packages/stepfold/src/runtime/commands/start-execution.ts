import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import type { ParentLink } from "../../core/snapshot/snapshot.ts";
import { begin } from "../../core/transition/begin.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { withConsequences } from "../../core/transition/evolve.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import { type StartOptions, startEvent } from "../../engine/workflow/start-event.ts";
import type { Claim, Commit, Lease } from "../../ports/snapshot-store.ts";
import { noticeOf } from "../context/changes.ts";
import type { CommandResult } from "../context/command-result.ts";
import { makeCommit } from "../context/make-commit.ts";
import { maxUnavailableMs, persistForCaller, writeForCaller } from "../context/persist.ts";
import { publishCommit, type RuntimeContext } from "../context/runtime-context.ts";
import type { TimedClaim } from "../context/timed-claim.ts";

/** An execution to start. */
export interface ExecutionStart {
  readonly prepared: PreparedWorkflow;
  readonly options: Omit<StartOptions, "externalPayload">;
  /** The execution that waits for it. */
  readonly parent?: ParentLink | undefined;
  /** Its definition has no name here. */
  readonly unnamed?: boolean | undefined;
}

/** `committed` is false if the id is taken: the execution there has to be compared with `event`. */
export interface StartResult extends CommandResult {
  /** How the execution begins. */
  readonly event: StartedEvent;
  /** Its claim, if one was asked for. An execution that needs a permit gets none: it is claimed once it is stored. */
  readonly claim: TimedClaim | null;
}

/**
 * Stores a new execution.
 *
 * @param lease to claim it in the same write; null if this process has no slot for it
 * @throws StepfoldError `WORKFLOW_EXISTS` if one with this id was deleted lately; `STORE_UNAVAILABLE`, `OUTCOME_UNKNOWN`, `OPTION_INVALID`
 */
export async function startExecution(context: RuntimeContext, request: ExecutionStart, lease: Lease | null): Promise<StartResult> {
  const { environment, registry, clock } = context;
  const untilMs = environment.monotonicMs() + maxUnavailableMs;
  const patiently = <T>(call: () => Promise<T>): Promise<T> => persistForCaller(environment, call, untilMs);
  const at = await patiently(() => clock.now());
  const event = newStartEvent(context, request, at);
  const draft = begin(request.prepared.compiled, event);
  const commit = makeCommit(draft, [withConsequences(draft, event)], context.newCommitId());
  const keep = (): Promise<void> => registry.keep(request.prepared, environment.monotonicMs());
  await patiently(keep);
  try {
    const what = { workflowId: event.workflowId, action: "start" };
    const write = <T>(call: () => Promise<T>): Promise<T> => writeForCaller(environment, what, () => keep().then(call), untilMs);
    const { claim, isAnnounced } = await create(context, draft, commit, lease, write);
    const { workflowId, incarnation, version } = draft;
    publishCommit(context, noticeOf(draft), commit.events);
    const wakeUp = claim ? null : { workflowId, incarnation, version, wakeAt: commit.wakeAt, isAnnounced };
    return { event, committed: true, claim, wakeUp };
  } catch (error) {
    if (!StepfoldError.is(error, "WORKFLOW_EXISTS") || error.details.deletedAt !== undefined) throw error;
    // it may be due, and its process may have died: a worker here looks. The queue got the message with its first commit
    const wakeUp = { workflowId: event.workflowId, version: 0, wakeAt: 0, isAnnounced: true };
    return { event, committed: false, claim: null, wakeUp };
  }
}

function newStartEvent(
  { environment, setting, store }: RuntimeContext,
  { prepared, options, parent, unnamed }: ExecutionStart,
  at: number,
): StartedEvent {
  const incarnation = environment.newId();
  const begun = startEvent(prepared, options, { now: () => at, newId: () => environment.newId() }, setting.limits);
  const event: StartedEvent = { ...begun, incarnation, ...(parent && { parent }), ...(unnamed && { unnamed }) };
  if (event.permit && !store.features.permits) {
    const reason = `cannot be kept by the store "${store.name}": it does not know which executions are running`;
    throw new StepfoldError("OPTION_INVALID", { option: "concurrency", reason });
  }
  return event;
}

async function create(
  { store, environment, wakeUpSender }: RuntimeContext,
  draft: Draft,
  commit: Commit,
  lease: Lease | null,
  patiently: <T>(call: () => Promise<T>) => Promise<T>,
): Promise<{ readonly claim: TimedClaim | null; readonly isAnnounced: boolean }> {
  if (!lease) {
    const write = async (whole: Commit): Promise<void> => void (await patiently(() => store.create(whole, {})));
    return { claim: null, isAnnounced: await wakeUpSender.sendWith(draft, commit, write) };
  }
  const askedAtMs = environment.monotonicMs();
  const claim: Claim | null = await patiently(() => store.create(commit, { claim: lease }));
  return { claim: claim && { claim, snapshot: closeDraft(draft), askedAtMs }, isAnnounced: false };
}
