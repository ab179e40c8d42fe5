import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import { wakeAt } from "../../core/transition/draft/draft-status.ts";
import { openDraft } from "../../core/transition/draft/open-draft.ts";
import { evolve, withConsequences } from "../../core/transition/evolve.ts";
import { type ResumeCommand, refuseStranger } from "../../engine/commands/answer-wait.ts";
import { type Command, decide } from "../../engine/commands/command.ts";
import type { SignalCommand } from "../../engine/commands/send-signal.ts";
import type { Commit } from "../../ports/snapshot-store.ts";
import { noticeOf } from "../context/changes.ts";
import { makeCommit } from "../context/make-commit.ts";
import { persistForCaller } from "../context/persist.ts";
import { requireSnapshot } from "../context/require-snapshot.ts";
import { publishCommit, type RuntimeContext } from "../context/runtime-context.ts";
import type { CommandResult } from "./command-result.ts";
import { isRepeatedAnswer } from "./repeated-answer.ts";

/** More conflicts than honest writers cause. */
const maxConflicts = 100;

/**
 * Commits the event that a command makes of an execution: a resume, signal, cancellation, retry, change of a map, or the
 * end of a child. Where another writer was first, the snapshot is read again and the command decided again.
 *
 * @param announce whether the queue's message goes with the commit: false if this process has a worker, which looks first
 * @returns `committed: false` if the same answer or signal was given before
 */
export async function dispatchCommand(
  context: RuntimeContext,
  workflowId: string,
  command: Command,
  announce: boolean,
): Promise<CommandResult> {
  try {
    return await decideAndCommit(context, workflowId, command, announce);
  } catch (error) {
    if (!StepfoldError.is(error) || !isAnswer(command)) throw error;
    // the same answer may have been given between the read and the commit
    const isRepeated = await isRepeatedAnswer(context.store, workflowId, command).catch((conflict: unknown) => {
      // who may not answer is not told what others have answered
      throw StepfoldError.is(error, "RESPONDER_DENIED") ? error : conflict;
    });
    if (isRepeated) return repeated;
    throw error;
  }
}

const repeated: CommandResult = { committed: false, wakeUp: null };

async function decideAndCommit(context: RuntimeContext, workflowId: string, command: Command, announce: boolean): Promise<CommandResult> {
  const { store, environment, registry, setting, wakeUpSender, clock } = context;
  const patiently = <T>(call: () => Promise<T>): Promise<T> => persistForCaller(environment, call);
  for (let conflicts = 0; ; conflicts++) {
    const snapshot = await patiently(() => requireSnapshot(store, workflowId));
    const now = await patiently(() => clock.now());
    const pinned = () => registry.pinned(workflowId, snapshot.definition.hash);
    if (isKeyedResume(command) && !isTerminal(snapshot.status)) refuseStranger(await pinned(), snapshot, command, now);
    // an answer given before this snapshot is found here; one given after it is a conflict
    if (isAnswer(command) && (await patiently(() => isRepeatedAnswer(store, workflowId, command)))) return repeated;
    const workflow = await pinned();
    const event = await decide(workflow, snapshot, command, now, setting.limits);
    const draft = openDraft(workflow.compiled, snapshot);
    const dueBefore = wakeAt(draft);
    if (!evolve(draft, event)) throw new StepfoldError("WAIT_GONE", { workflowId, target: command.type, open: [] });
    const commit = makeCommit(draft, [withConsequences(draft, event)], context.newCommitId());
    const write = (whole: Commit): Promise<void> => patiently(() => store.commit(whole));
    // a due time that stays the same was announced with an earlier commit
    const dueAt = commit.wakeAt === 0 || commit.wakeAt !== dueBefore ? commit.wakeAt : null;
    let isAnnounced = false;
    try {
      if (announce && dueAt !== null) isAnnounced = await wakeUpSender.sendWith(draft, commit, write);
      else await write(commit);
    } catch (error) {
      const overtaken = StepfoldError.is(error, "VERSION_CONFLICT") || StepfoldError.is(error, "EXECUTION_ENDED");
      if (overtaken && conflicts < maxConflicts) continue;
      throw error;
    }
    publishCommit(context, noticeOf(draft), commit.events);
    const { incarnation, version } = draft;
    return { committed: true, wakeUp: { workflowId, incarnation, version, wakeAt: dueAt, isAnnounced } };
  }
}

function isKeyedResume(command: Command): command is ResumeCommand {
  return command.type === "resume" && command.idempotencyKey !== undefined;
}

function isAnswer(command: Command): command is ResumeCommand | SignalCommand {
  return command.type === "resume" || command.type === "signal";
}
