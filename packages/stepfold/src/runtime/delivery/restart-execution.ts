import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal, type Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { wakeAt } from "../../core/transition/draft/draft-status.ts";
import { withConsequences } from "../../core/transition/evolve.ts";
import { restartRun } from "../../core/transition/restart-run.ts";
import { answeredBefore } from "../commands/repeated-answer.ts";
import { noticeOf } from "../context/changes.ts";
import { makeCommit } from "../context/make-commit.ts";
import { publishCommit, type RuntimeContext } from "../context/runtime-context.ts";
import { writeForCaller } from "../context/store/persist.ts";
import { requireSnapshot } from "../context/store/require-snapshot.ts";
import { refused } from "../forks/load-history.ts";
import { checkRestartOptions, planRestart, type RestartOptions } from "../forks/plan-restart.ts";
import { type LocalWork, wakeExecution } from "../local/local-work.ts";

/** What a call of `restart` has done. */
export interface RestartOutcome {
  /** Whether this call has restarted the execution. */
  readonly applied: boolean;
  /**
   * `restarted`: this call has. `repeated`: a call with the same idempotency key has. `open`: an earlier call has, and the execution has
   * not ended since. `completed`: an earlier call has, and it has completed since.
   */
  readonly reason: "restarted" | "repeated" | "open" | "completed";
}

/** How many times a restart is planned again because another call was first. */
const maxTries = 20;

/**
 * Lets an execution that has failed or was cancelled go on where it failed, in one commit. A call that finds that an earlier one has done so
 * changes nothing.
 *
 * @throws StepfoldError `FORK_REFUSED` and what `planRestart` throws; nothing is changed
 */
export async function restartExecution(
  context: RuntimeContext,
  local: LocalWork,
  workflowId: string,
  options: RestartOptions,
): Promise<RestartOutcome> {
  const { store, environment, registry, clock } = context;
  checkRestartOptions(options, context.caller);
  for (let tries = 0; ; tries++) {
    const ended = await requireSnapshot(store, workflowId);
    const before = await restartedBefore(context, ended, options);
    if (before) return before;
    const planned = await planRestart(context, workflowId, options).catch(async (error: unknown) => {
      const { version } = await requireSnapshot(store, workflowId);
      if (version === ended.version || tries >= maxTries) throw error;
      return null;
    });
    // another writer was first
    if (!planned || (planned.version !== ended.version && tries < maxTries)) continue;
    const event = planned.eventAt(await clock.now());
    const draft = restartRun(planned.prepared.compiled, ended, event);
    requireProgress(draft);
    await registry.ensureStored(planned.prepared, environment.monotonicMs());
    const commit = { ...makeCommit(context, draft, [withConsequences(draft, event)]), reopens: true as const };
    try {
      await writeForCaller(context, { workflowId, action: "restart", commit }, () => store.commit(commit));
    } catch (error) {
      if (!StepfoldError.is(error, "VERSION_CONFLICT") || tries >= maxTries) throw error;
      continue;
    }
    const notice = noticeOf(draft);
    publishCommit(context, notice, commit.events);
    await wakeExecution(context, local, { ...notice, incarnation: draft.incarnation, wakeAt: wakeAt(draft), isAnnounced: false });
    return { applied: true, reason: "restarted" };
  }
}

/**
 * Returns the outcome of a call that comes after an earlier restart; null if the execution can be restarted.
 *
 * @throws StepfoldError `FORK_REFUSED` if the call names a definition that the execution does not follow
 */
async function restartedBefore(
  context: RuntimeContext,
  snapshot: Snapshot,
  { idempotencyKey: key, definition }: RestartOptions,
): Promise<RestartOutcome | null> {
  const { status, restarts } = snapshot;
  const isRepeated = key !== undefined && (await answeredBefore(context.store, snapshot, { command: "restart", key })) !== null;
  const reason = isRepeated
    ? "repeated"
    : restarts === undefined
      ? null
      : status === "completed"
        ? "completed"
        : isTerminal(status)
          ? null
          : "open";
  if (reason === null) return null;
  if (definition !== undefined) {
    const { registry } = context;
    const { compiled } = typeof definition === "string" ? registry.current(definition) : registry.prepare(definition);
    if (compiled.hash !== snapshot.definition.hash)
      throw refused(snapshot, null, `it was restarted before, with another definition (${snapshot.definition.hash.slice(0, 12)})`);
  }
  return { applied: false, reason };
}

/** @throws StepfoldError `FORK_REFUSED` if the execution would fail again before any step is performed */
function requireProgress(draft: Draft): void {
  const { ended, ending, closing, error } = draft;
  const fails = ended === "failed" || ending?.status === "failed" || closing?.status === "failed";
  if (!fails) return;
  const { message = "its end was decided" } = error ?? ending?.error ?? closing?.error ?? {};
  throw refused(draft, null, `it would fail again at once: ${message}. Change what made it fail, or pass another definition`);
}
