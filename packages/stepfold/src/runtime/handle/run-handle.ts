import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type ExplainOptions, type Explanation, explain } from "../../core/explain/explain.ts";
import { waits } from "../../core/explain/waits.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { aFlag, checkOptions, refuseUnknown, requireOption } from "../../core/values/check-arguments.ts";
import type { Json } from "../../core/values/json.ts";
import type { Asked } from "../../engine/commands/asked.ts";
import type { AskedCommand } from "../../engine/commands/command.ts";
import { leavable } from "../../engine/leavable.ts";
import type { SignalToken, WaitToken } from "../../engine/node/typed.ts";
import type { Scrub } from "../../engine/secrets/scrubber.ts";
import { holderOf } from "../../ports/holder-of.ts";
import { whyNoWorker } from "../../ports/no-worker.ts";
import { byIn } from "../callers/caller.ts";
import type { MadeExecution } from "../commands/start-execution.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { requireSnapshot } from "../context/store/require-snapshot.ts";
import { restartExecution } from "../delivery/restart-execution.ts";
import { startForked } from "../delivery/start-forked.ts";
import { type Forking, type ForkOptions, planFork } from "../forks/fork.ts";
import { planRestart, type RestartOptions } from "../forks/plan-restart.ts";
import { commandLocally, type LocalWork } from "../local/local-work.ts";
import { ChangesOf } from "./changes-of.ts";
import { endOfWait, withEnd } from "./end-of-wait.ts";
import { aVersion, checkEventsQuery, eventPage } from "./event-page.ts";
import { type ResumeOptions, type Run, type SignalOptions, targetOf } from "./run.ts";
import { onSoundRow } from "./sound-row.ts";
import { waitingFor } from "./wait-for.ts";
import { waitUntilEnded } from "./wait-until.ts";
import { waitUntilSettled } from "./wait-until-settled.ts";
import { watch } from "./watch.ts";

const addressKeys = ["step", "item", "waitId", "pathId"] as const;
/** What other engines, and `execute` of the engine, call the options of an answer. */
const namesElsewhere: Readonly<Record<string, "step" | "payload">> = {
  ...{ stepId: "step", nodeId: "step", node: "step", target: "step" },
  ...{ context: "payload", data: "payload", resumeData: "payload", externalPayload: "payload", answer: "payload" },
};

/**
 * Makes a handle on an execution. Its types are those of the workflow, which only the compiler knows.
 *
 * @param requireOpen throws once the runtime is closed
 */
export function runHandle<Out, Waits, Signals>(
  context: RuntimeContext,
  local: LocalWork,
  { workflowId, isNew }: MadeExecution,
  requireOpen: (action: string) => void,
): Run<Out, Waits, Signals> {
  const { store, registry } = context;
  const { sessions } = local;
  const dispatch = async (command: AskedCommand): Promise<boolean> => {
    requireOpen(command.type);
    const asked: AskedCommand = { ...command, by: byIn(context.caller, command.by) };
    return onSoundRow(workflowId, () => commandLocally(context, local, workflowId, asked));
  };
  return {
    workflowId,
    isNew,
    snapshot: () => requireSnapshot(store, workflowId),
    waits: () => onSoundRow(workflowId, async () => waits(await requireSnapshot(store, workflowId))),
    async explain(options = {}) {
      checkOptions<Pick<ExplainOptions, "messages">>("run.explain", options, { messages: aFlag });
      return onSoundRow(workflowId, () => explainRun(context, workflowId, options));
    },
    async events(query = {}) {
      requireOpen("read events");
      checkEventsQuery(query);
      return onSoundRow(workflowId, () => eventPage(store, workflowId, query));
    },
    waitFor: waitingFor(context, sessions, workflowId),
    settled: (options = {}) =>
      withEnd(context, options, { workflowId, awaited: "settle", method: "run.settled" }, (end) =>
        waitUntilSettled(context, sessions, workflowId, end),
      ),
    result: (options = {}) =>
      withEnd(
        context,
        options,
        { workflowId, awaited: "end", method: "run.result" },
        async (end) => outputOf(await waitUntilEnded(context, sessions, workflowId, end)) as Out,
      ),
    watch(options = {}) {
      const after = (safeMember(options, "after") ?? -1) as number;
      requireOption("after", after, aVersion);
      const end = endOfWait(context, options, { workflowId, awaited: "end", method: "run.watch", otherOptions: ["after"] });
      return leavable((left) => {
        const request = { workflowId, end: AbortSignal.any([end.signal, left]) };
        const openChanges = (): ChangesOf => new ChangesOf(context, sessions, request);
        return watch({ store, registry, workflowId, after, openChanges, over: end.cancel, left });
      });
    },
    ...answering(dispatch),
    ...changing(dispatch),
    ...forking(context, local, workflowId, requireOpen),
  };
}

/** How a handle answers, whatever its types are. */
interface Answering {
  resume(wait?: ResumeOptions | WaitToken, ...typed: TypedAnswer): Promise<{ readonly applied: boolean }>;
  signal(signal: string | SignalToken, payload?: unknown, options?: SignalOptions): Promise<{ readonly applied: boolean }>;
}

/** What follows the token of a wait. */
type TypedAnswer = readonly [payload?: unknown, options?: Omit<ResumeOptions, "step" | "payload">];

/** Returns an answer as options. @throws StepfoldError `OPTION_INVALID` if it does not begin with the token of a wait */
function answerOf(wait: unknown, [payload, options]: TypedAnswer): ResumeOptions {
  const step = safeMember(wait, "step");
  if (typeof step === "string") return { ...options, step, payload };
  throw new StepfoldError("OPTION_INVALID", {
    option: "wait",
    reason: "must be one of the waits of a typed workflow, such as order.waits.approve",
  });
}

/** Returns the name of a signal. @throws StepfoldError `OPTION_INVALID` if it is neither text nor the token of a signal */
function nameOf(signal: unknown): string {
  const name = typeof signal === "string" ? signal : safeMember(signal, "signal");
  if (typeof name === "string") return name;
  throw new StepfoldError("OPTION_INVALID", { option: "signal", reason: "must be a name, or one of the signals of a typed workflow" });
}

/** The members of a handle that answer the execution. */
function answering(dispatch: (command: AskedCommand) => Promise<boolean>): Answering {
  return {
    async resume(wait: ResumeOptions | WaitToken = {}, ...typed: TypedAnswer) {
      const options: ResumeOptions = typed.length === 0 ? wait : answerOf(wait, typed);
      refuseUnknown("run.resume", options, [...addressKeys, "payload", "by", "idempotencyKey"], namesElsewhere);
      const { payload, by, idempotencyKey } = options;
      return { applied: await dispatch({ type: "resume", target: targetOf(options), payload, by, idempotencyKey }) };
    },
    async signal(signal: string | SignalToken, payload?: unknown, options: SignalOptions = {}) {
      refuseUnknown("run.signal", options, ["key", "ttl", "by", "idempotencyKey"]);
      const command: AskedCommand = { type: "signal", name: nameOf(signal), payload, ...options };
      return { applied: await dispatch(command) };
    },
  };
}

/** The members of a handle that change the execution without answering it. */
function changing(
  dispatch: (command: AskedCommand) => Promise<boolean>,
): Pick<Run, "setMetadata" | "cancel" | "retry" | "addItem" | "closeMap" | "completeMap"> {
  const change = async (command: AskedCommand): Promise<void> => void (await dispatch(command));
  return {
    async setMetadata(patch, options = {}) {
      refuseUnknown("run.setMetadata", options, ["by", "idempotencyKey"]);
      return { applied: await dispatch({ type: "setMetadata", patch, ...options }) };
    },
    async cancel(options = {}) {
      refuseUnknown("run.cancel", options, [...addressKeys, "reason", "by"]);
      await change({ type: "cancel", target: targetOf(options), reason: options.reason, by: options.by });
    },
    async retry(options = {}) {
      refuseUnknown("run.retry", options, ["step", "by"]);
      await change({ type: "retry", node: options.step, by: options.by });
    },
    addItem: async (step, item, options = {}) => change({ type: "addItem", node: step, item, by: byOf("run.addItem", options) }),
    closeMap: async (step, options = {}) => change({ type: "closeMap", node: step, by: byOf("run.closeMap", options) }),
    completeMap: async (step, options = {}) => change({ type: "completeMap", node: step, by: byOf("run.completeMap", options) }),
  };
}

function byOf(method: string, options: Asked): string | undefined {
  refuseUnknown(method, options, ["by"]);
  return options.by;
}

/** The members of a handle that fork or restart the execution. */
function forking(
  context: RuntimeContext,
  local: LocalWork,
  workflowId: string,
  requireOpen: (action: string) => void,
): Pick<Run, "fork" | "planFork" | "restart" | "planRestart"> {
  const forkPlan = (action: string, options: ForkOptions): Promise<Forking> => {
    requireOpen(action);
    return onSoundRow(workflowId, () => planFork(context, workflowId, options));
  };
  const begin = async (forking: Forking): Promise<Run> =>
    runHandle(context, local, await onSoundRow(workflowId, () => startForked(context, local, forking)), requireOpen);
  return {
    fork: async (options: ForkOptions = {}) => begin(await forkPlan("fork", options)),
    planFork: async (options: ForkOptions = {}) => (await forkPlan("planFork", options)).plan,
    async restart(options: RestartOptions = {}) {
      requireOpen("restart");
      return onSoundRow(workflowId, () => restartExecution(context, local, workflowId, options));
    },
    async planRestart(options: RestartOptions = {}) {
      requireOpen("planRestart");
      return (await onSoundRow(workflowId, () => planRestart(context, workflowId, options))).plan;
    },
  };
}

/** Explains an execution. If its definition is lost or was changed, the explanation says less. */
async function explainRun(context: RuntimeContext, workflowId: string, options: ExplainOptions): Promise<Explanation> {
  const { store, registry, secrets } = context;
  const snapshot = await requireSnapshot(store, workflowId);
  const workflow = await registry.pinnedForCommands(workflowId, snapshot.definition.hash).catch((error: unknown) => {
    if (StepfoldError.is(error, "DEFINITION_MISSING") || StepfoldError.is(error, "DEFINITION_CHANGED")) return null;
    throw error;
  });
  const worker = await workerOf(context, snapshot);
  // a process that runs the execution now has its code, so the workers are asked for only if there is none
  const noWorker = worker === null ? await whyNoWorker(snapshot, async () => (await store.workers?.()) ?? []) : null;
  const explanation = { ...explain(snapshot, workflow?.compiled, { ...options, worker }), ...(noWorker !== null && { noWorker }) };
  return withoutSecrets(explanation, secrets.current());
}

/** Returns the process that runs an execution now. The store is asked only if there is a step to run. */
async function workerOf({ store, clock }: RuntimeContext, { status, workflowId }: Snapshot): Promise<string | null> {
  return status === "active" ? holderOf(store, workflowId, await clock.now()) : null;
}

/** Removes secrets from the sentences of an explanation. What it quotes as data stays as it is. */
function withoutSecrets(explanation: Explanation, scrub: Scrub): Explanation {
  const said = <T extends { readonly sentence: string }>(part: T): T => ({ ...part, sentence: scrub(part.sentence) });
  const { places, next } = explanation;
  return { ...said(explanation), places: places.map(said), next: next && said(next) };
}

function outputOf({ workflowId, status, ending, output = null, error, currentNodeId }: Snapshot): Json {
  const end = ending?.status ?? status;
  if (end === "completed") return output;
  const undone = error?.notUndone && { notUndone: error.notUndone };
  if (end === "cancelled") {
    const reason = error?.code === "EXECUTION_CANCELLED" && { reason: error.message };
    throw new StepfoldError("EXECUTION_CANCELLED", { workflowId, ...reason, ...undone }, { cause: error });
  }
  const nodeId = error?.nodeId ?? currentNodeId;
  const details = { workflowId, message: error?.message ?? "unknown", ...(nodeId !== null && { nodeId }), ...undone };
  const more = { ...(error?.code !== undefined && { code: error.code }), ...(error?.cause && { cause: error.cause }) };
  const facts = error?.details !== undefined && { details: error.details };
  throw new StepfoldError("EXECUTION_FAILED", { ...details, ...more, ...facts }, { cause: error });
}
