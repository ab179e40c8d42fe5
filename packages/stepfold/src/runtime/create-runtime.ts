import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { isTerminal } from "../core/snapshot/snapshot.ts";
import { isWholeSnapshot } from "../core/snapshot/snapshot-head.ts";
import { wakeAt } from "../core/transition/draft/draft-status.ts";
import { openDraft } from "../core/transition/draft/open-draft.ts";
import { aCount, aTime, checkOptions } from "../core/values/check-arguments.ts";
import type { NodeDefinitions } from "../engine/node/node-definition.ts";
import type { GlobalsOption } from "../engine/node/typed.ts";
import { allExtraFunctions } from "../expressions/extra/all-extra-functions.ts";
import { provideExtraFunctions } from "../expressions/functions/extra-functions.ts";
import { leftError } from "./context/lacking.ts";
import { createRuntimeContext, requireWhole, scopedContext } from "./context/runtime-context.ts";
import type { RuntimeOptions } from "./context/runtime-options.ts";
import { requireSnapshot } from "./context/store/require-snapshot.ts";
import { claimOne } from "./context/timed-claim.ts";
import { createLocalWork, type LocalWork } from "./local/local-work.ts";
import { openSchedules } from "./open-schedules.ts";
import { Presence } from "./presence.ts";
import { readRetention } from "./retention/retention.ts";
import type { Advanced, Runtime } from "./runtime.ts";
import { runtimeLists } from "./runtime-lists.ts";
import { scopedRuntime } from "./scoped-runtime.ts";
import { Dispatcher } from "./worker/dispatcher.ts";
import { type SweepParts, sweep } from "./worker/sweep.ts";

/** The default of `maxExecutions`, the number of executions that run at the same time. */
const defaultMaxExecutions = 100;

/**
 * Makes a runtime, which runs durable executions on a store.
 *
 * ```ts
 * const runtime = createRuntime({ store: sqliteStore("app.db"), workflows: [approval], nodeDefinitions });
 * const run = await runtime.start("approval", { workflowId: "post-7", input: { title: "Hello" } });
 * await run.settled(); // it waits for a review
 * await run.resume({ step: "review", payload: { approved: true } });
 * await run.result();
 * ```
 *
 * While it is open it also runs executions that are due and held by no process: timers, retries, and executions whose
 * process died. Close it before the process ends.
 *
 * @throws StepfoldError `DEFINITION_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function createRuntime<const D extends NodeDefinitions, W = unknown>(options: RuntimeOptions<D, W> & GlobalsOption<D, W>): Runtime {
  provideExtraFunctions(allExtraFunctions);
  const closed = new AbortController();
  const context = createRuntimeContext(options, closed.signal);
  const { maxExecutions = defaultMaxExecutions } = options;
  requireWhole("maxExecutions", maxExecutions);
  const local = createLocalWork(context);
  const dispatcher = new Dispatcher(context, local);
  const retention = readRetention(options.retention, context);
  const presence = new Presence(context, options.beatMs, Object.keys(context.registry.nodeDefinitions));
  let closing: Promise<void> | null = null;
  const requireOpen = (action: string): void => {
    if (closing) throw new StepfoldError("RUNTIME_CLOSED", { action });
  };
  const scheduling = openSchedules(context, local, options.schedules, requireOpen);
  const openWorker = (slots: number): void => {
    dispatcher.open(slots);
    retention.open();
    presence.open(slots);
    scheduling.declare();
  };
  const closeWorker = (timeoutMs: number): Promise<unknown> =>
    Promise.all([dispatcher, retention, presence].map((part) => part.close(timeoutMs)));
  const closeRuntime = async (closeOptions: CloseOptions = {}): Promise<void> => {
    closing ??= closeWorker(timeoutOf("runtime.close", closeOptions))
      .then(() => context.feed.close())
      .finally(() => closed.abort(new StepfoldError("RUNTIME_CLOSED", { action: "wait any longer" })));
    return closing;
  };
  if (options.drive ?? true) openWorker(maxExecutions);
  return {
    ...scopedRuntime(context, local, scheduling.schedulesIn(context), requireOpen),
    scoped(caller) {
      const scoped = scopedContext(context, caller);
      return scopedRuntime(scoped, local, scheduling.schedulesIn(scoped), requireOpen);
    },
    ...boundedMoves({ context, local, dispatcher, concurrency: maxExecutions }, requireOpen),
    work(workOptions = {}) {
      requireOpen("work");
      checkOptions("runtime.work", workOptions, { concurrency: aCount });
      requireIdle(local);
      openWorker(workOptions.concurrency ?? maxExecutions);
      return { stop: async (stopOptions = {}) => void (await closeWorker(timeoutOf("worker.stop", stopOptions))) };
    },
    ...runtimeLists(context.store, requireOpen),
    close: closeRuntime,
    [Symbol.asyncDispose]: async () => closeRuntime(),
  };
}

/** The methods of a runtime that run executions without a worker: one until nothing is due, or many for a bounded time. */
function boundedMoves(parts: SweepParts, requireOpen: (action: string) => void): Pick<Runtime, "advance" | "sweep"> {
  return {
    async advance(workflowId) {
      requireOpen("advance");
      parts.context.registry.beginToDrive();
      return advance(parts, workflowId);
    },
    async sweep(options = {}) {
      requireOpen("sweep");
      parts.context.registry.beginToDrive();
      return sweep(parts, options);
    },
  };
}

/** Checks that the runtime does not work yet. @throws StepfoldError `OPTION_INVALID` */
function requireIdle({ slots }: LocalWork): void {
  if (!slots.isOpen) return;
  throw new StepfoldError("OPTION_INVALID", { option: "drive", reason: "must be false for a runtime that begins to work later" });
}

/** Claims an execution, performs what is due, and gives the claim back. */
async function advance({ context, local, dispatcher }: SweepParts, workflowId: string): Promise<Advanced> {
  const claim = await claimOne(context, { workflowId });
  const advanced = claim && (await dispatcher.run({ ...claim, slot: local.slots.take("local") }));
  const snapshot = advanced && isWholeSnapshot(advanced) ? advanced : await requireSnapshot(context.store, workflowId);
  const lacked = advanced || isTerminal(snapshot.status) ? null : context.lacking.get(snapshot.definition.hash);
  if (lacked) throw leftError(workflowId, lacked);
  const { compiled } = await context.registry.pinnedForCommands(workflowId, snapshot.definition.hash);
  return { advanced: advanced !== null, snapshot, wakeAt: wakeAt(openDraft(compiled, snapshot)) };
}

/** Options of what waits for steps in flight. */
interface CloseOptions {
  readonly timeoutMs?: number | undefined;
}

/** Returns how long to wait for steps in flight. @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN` */
function timeoutOf(of: string, options: CloseOptions): number {
  checkOptions(of, options, { timeoutMs: aTime });
  return options.timeoutMs ?? 30_000;
}
