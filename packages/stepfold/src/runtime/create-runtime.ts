import { apply } from "../core/apply.ts";
import { begin } from "../core/begin.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { closeDraft, type Draft, openDraft, statusOf, wakeAt } from "../core/draft.ts";
import type { Event, StartedEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { isTerminal, type Snapshot } from "../core/snapshot.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import { type Command, decide } from "../engine/command.ts";
import { Deadlines } from "../engine/deadlines.ts";
import type { NodeDefinitions } from "../engine/node-definition.ts";
import { defaultConcurrency, type TurnSetting } from "../engine/open-turn.ts";
import { type StartOptions, started } from "../engine/started.ts";
import { systemEnvironment } from "../engine/system-environment.ts";
import { checkTurnOptions, defaultStepTimeoutMs, readLimits } from "../engine/turn-options.ts";
import type { Claim, Lease } from "../ports/snapshot-store.ts";
import { answered } from "./answered.ts";
import { Changes } from "./changes.ts";
import { commitOf } from "./commit-of.ts";
import { Driver } from "./driver.ts";
import { persist } from "./persist.ts";
import { Registry } from "./registry.ts";
import { type ResumeOptions, type Run, targetOf } from "./run.ts";
import type { Advanced, Runtime, RuntimeOptions } from "./runtime.ts";
import { watch } from "./watch.ts";

const unavailableForMs = 10_000;
const mostConflicts = 100;

/**
 * Durable executions on a store.
 *
 * ```ts
 * const runtime = createRuntime({ store: sqliteStore("app.db"), workflows: [approval], nodeDefinitions });
 * const run = await runtime.start("approval", { workflowId: "post-7", input: { title: "Hello" } });
 * await run.resume({ step: "review", payload: { approved: true } });
 * await run.result();
 * ```
 *
 * @throws StepfoldError `DEFINITION_INVALID`, `OPTION_INVALID`
 */
export function createRuntime<const D extends NodeDefinitions>(options: RuntimeOptions<D>): Runtime {
  const { store, drive = true, leaseMs = 30_000, pollMs = 1_000, maxExecutions = 100, concurrency = defaultConcurrency } = options;
  const environment = options.environment ?? systemEnvironment;
  const owner = options.owner ?? environment.newId();
  const limits = readLimits(options.limits);
  checkTurnOptions({ concurrency });
  for (const [option, value] of Object.entries({ leaseMs, pollMs, maxExecutions })) {
    if (!(value >= 1)) throw new StepfoldError("OPTION_INVALID", { option, reason: "must be a number from 1 on" });
  }
  const setting: TurnSetting = {
    environment,
    deadlines: new Deadlines(environment),
    limits,
    stepTimeoutMs: options.stepTimeoutMs ?? defaultStepTimeoutMs,
    plugins: options.plugins ?? [],
  };
  const registry = new Registry(store, options.workflows ?? [], options.nodeDefinitions, limits);
  const changes = new Changes();
  const lease: Lease = { owner, leaseMs };
  let commits = 0;
  const commitPrefix = environment.newId();
  const newCommitId = (): string => `${commitPrefix}.${(++commits).toString(36)}`;
  const driver = new Driver({
    store,
    setting,
    globals: options.globals,
    concurrency,
    newCommitId,
    registry,
    lease,
    pollMs,
    maxExecutions,
    onProblem: options.onProblem ?? (() => undefined),
    onCommitted: ({ workflowId, version, status }) => changes.tell(workflowId, version, status),
  });
  let closing: Promise<void> | null = null;
  if (drive) driver.open();

  const requireOpen = (action: string): void => {
    if (closing) throw new StepfoldError("RUNTIME_CLOSED", { action });
  };

  const load = async (workflowId: string): Promise<Snapshot> => {
    const snapshot = await store.load(workflowId);
    if (!snapshot) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    return snapshot;
  };

  /** Commits what is decided about the snapshot as it is then; decides again where somebody else was first. */
  const command = async (workflowId: string, told: Command): Promise<void> => {
    for (let conflicts = 0; ; conflicts++) {
      const snapshot = await load(workflowId);
      const workflow = await registry.pinned(workflowId, snapshot.definition.hash);
      const event = await decide(workflow, snapshot, told, environment.now(), limits);
      const draft = openDraft(workflow.compiled, apply(workflow.compiled, snapshot, event));
      try {
        const write = commitOf(draft, [event], newCommitId());
        await persist(environment, environment.monotonicMs() + unavailableForMs, () => store.commit(write));
        changes.tell(workflowId, draft.version, statusOf(draft));
        if (drive && !closing) await driver.nudge(workflowId).catch(() => undefined);
        return;
      } catch (error) {
        const overtaken = StepfoldError.is(error, "VERSION_CONFLICT") || StepfoldError.is(error, "EXECUTION_ENDED");
        if (!overtaken || conflicts >= mostConflicts) throw error;
      }
    }
  };

  const resume = async (workflowId: string, options: ResumeOptions): Promise<{ applied: boolean }> => {
    requireOpen("resume");
    const told: Command = {
      type: "resume",
      target: targetOf(options),
      payload: options.payload,
      by: options.by,
      idempotencyKey: options.idempotencyKey,
    };
    if (await answered(store, workflowId, told)) return { applied: false };
    try {
      await command(workflowId, told);
      return { applied: true };
    } catch (error) {
      // the answer may have been given between the look and the write
      if (StepfoldError.is(error) && (await answered(store, workflowId, told))) return { applied: false };
      throw error;
    }
  };

  /** Resolves with the next change, or when it is time to look whether another process made one. */
  const changed = (workflowId: string): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        unlisten();
        cancel();
        resolve();
      };
      const unlisten = changes.listen(workflowId, done);
      const cancel = environment.after(pollMs, done);
    });

  const until = async (workflowId: string, holds: (snapshot: Snapshot) => boolean): Promise<Snapshot> => {
    for (;;) {
      const next = changed(workflowId);
      const snapshot = await load(workflowId);
      if (holds(snapshot)) return snapshot;
      await next;
    }
  };

  const runOf = (workflowId: string): Run => ({
    workflowId,
    snapshot: () => load(workflowId),
    settled: () =>
      until(workflowId, ({ status, activePaths }) => isTerminal(status) || (status === "paused" && !activePaths.some(hasTimer))),
    async result(): Promise<Json> {
      const { status, output = null, error, currentNodeId } = await until(workflowId, (snapshot) => isTerminal(snapshot.status));
      if (status === "cancelled") throw new StepfoldError("EXECUTION_CANCELLED", { workflowId });
      if (status === "completed") return output;
      const at = error?.nodeId ?? currentNodeId;
      throw new StepfoldError("EXECUTION_FAILED", {
        workflowId,
        message: error?.message ?? "unknown",
        ...(at === null ? {} : { nodeId: at }),
      });
    },
    async *watch({ after = -1 } = {}) {
      const { definition } = await load(workflowId);
      yield* watch(store, await registry.pinned(workflowId, definition.hash), workflowId, after, () => changed(workflowId));
    },
    resume: (resumeOptions = {}) => resume(workflowId, resumeOptions),
    async cancel(reason) {
      requireOpen("cancel");
      await command(workflowId, { type: "cancel", reason });
    },
    async retry({ step } = {}) {
      requireOpen("retry");
      await command(workflowId, { type: "retry", node: step });
    },
  });

  /** The execution that has the id already, if it is the one that is to be started. */
  const existing = async (event: StartedEvent): Promise<Run> => {
    const { workflowId } = event;
    const { definition, input } = await load(workflowId);
    if (definition.id !== event.definition.id) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "definition" });
    if (!sameInput(input, event.input)) throw new StepfoldError("START_CONFLICT", { workflowId, differs: "input" });
    if (drive) await driver.nudge(workflowId).catch(() => undefined);
    return runOf(workflowId);
  };

  const begun = (draft: Draft, claim: Claim | null): Run => {
    changes.tell(draft.workflowId, draft.version, statusOf(draft));
    if (claim) driver.take({ claim, snapshot: closeDraft(draft), storeNow: environment.now() }).catch(() => undefined);
    return runOf(draft.workflowId);
  };

  return {
    async start(workflow, startOptions: Omit<StartOptions, "externalPayload"> = {}) {
      requireOpen("start");
      const prepared = typeof workflow === "string" ? registry.current(workflow) : registry.add(workflow);
      const event = started(prepared, startOptions, environment, limits);
      const draft = begin(prepared.compiled, event);
      const events: readonly Event[] = [event];
      const write = commitOf(draft, events, newCommitId());
      const retryUntil = environment.monotonicMs() + unavailableForMs;
      await persist(environment, retryUntil, () => registry.keep(prepared));
      try {
        return begun(draft, await persist(environment, retryUntil, () => store.create(write, drive ? { claim: lease } : {})));
      } catch (error) {
        if (!StepfoldError.is(error, "WORKFLOW_EXISTS") || error.details.deletedAt !== undefined) throw error;
        return existing(event);
      }
    },
    async get(workflowId) {
      await load(workflowId);
      return runOf(workflowId);
    },
    async advance(workflowId): Promise<Advanced> {
      requireOpen("advance");
      const [claimed] = await store.claim({ ...lease, limit: 1, workflowId });
      const snapshot = claimed ? await driver.take(claimed) : await load(workflowId);
      const { compiled } = await registry.pinned(workflowId, snapshot.definition.hash);
      return { advanced: claimed !== undefined, snapshot, wakeAt: wakeAt(openDraft(compiled, snapshot)) };
    },
    close({ timeoutMs = 30_000 } = {}) {
      closing ??= driver.close(timeoutMs);
      return closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

function hasTimer({ nextRetryAt, waits = [] }: Snapshot["activePaths"][number]): boolean {
  return nextRetryAt !== undefined || waits.some(({ resumeAt, timeoutAt }) => resumeAt !== undefined || timeoutAt !== undefined);
}

function sameInput(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
}
