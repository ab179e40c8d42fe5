import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { wakeAt } from "../../core/transition/draft/draft-status.ts";
import { restartRun } from "../../core/transition/restart-run.ts";
import { noticeOf } from "../context/changes.ts";
import { makeCommit } from "../context/make-commit.ts";
import { writeForCaller } from "../context/persist.ts";
import { requireHead, requireSnapshot } from "../context/require-snapshot.ts";
import { publishCommit, type RuntimeContext } from "../context/runtime-context.ts";
import { refused } from "../forks/find-version.ts";
import { planRestart, type RestartOptions, type RestartOutcome } from "../forks/fork.ts";
import { type LocalWork, wakeExecution } from "./local-work.ts";

/** How many times a restart is planned again because another call was first. */
const maxTries = 20;

/**
 * Lets an execution that has failed or was cancelled go on where it failed. Does nothing if an earlier call has restarted it, and it has not
 * failed since.
 */
export async function restartExecution(
  context: RuntimeContext,
  local: LocalWork,
  workflowId: string,
  options: RestartOptions,
): Promise<RestartOutcome> {
  const { store, environment, registry, clock } = context;
  for (let tries = 0; ; tries++) {
    const head = await requireHead(store, workflowId);
    if (head.restarts !== undefined && head.status !== "failed" && head.status !== "cancelled")
      return { applied: false, reason: head.status === "completed" ? "completed" : "open" };
    const planned = await planRestart(context, workflowId, options).catch(async (error: unknown) => {
      // another call has restarted it in the meantime
      if (StepfoldError.is(error, "FORK_REFUSED") && (await requireHead(store, workflowId)).restarts !== head.restarts) return null;
      throw error;
    });
    if (!planned) continue;
    const { prepared, eventAt } = planned;
    const ended = await requireSnapshot(store, workflowId);
    if (ended.version !== head.version && tries < maxTries) continue;
    const event = eventAt(await clock.now());
    const draft = restartRun(prepared.compiled, ended, event);
    const atOnce = draft.ended ?? draft.ending?.status ?? draft.closing?.status;
    if (atOnce === "failed" && !event.state.closing)
      throw refused(workflowId, null, `it would fail again at once: ${(draft.error ?? draft.closing?.error)?.message}`);
    await registry.ensureStored(prepared, environment.monotonicMs());
    const commit = { ...makeCommit(context, draft, [event]), reopens: true as const };
    try {
      await writeForCaller(environment, { workflowId, action: "restart" }, () => store.commit(commit));
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
