import { closeDraft } from "../../core/draft/close-draft.ts";
import { evolve, withConsequences } from "../../core/draft/evolve.ts";
import { openDraft } from "../../core/draft/open-draft.ts";
import { statusOf, wakeAt } from "../../core/draft/standing.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ResumeCommand } from "../../engine/answer-wait.ts";
import { type Command, decide } from "../../engine/command.ts";
import type { SignalCommand } from "../../engine/send-signal.ts";
import type { Commit } from "../../ports/snapshot-store.ts";
import { commitOf } from "../context/commit-of.ts";
import { persist } from "../context/persist.ts";
import { type Kernel, load, nudge, unavailableForMs } from "../context/runtime-context.ts";
import { answered } from "./repeated-answer.ts";

/** More than any honest race gives. */
const mostConflicts = 100;

/**
 * Commits what a command makes of the execution as it is then; decides again where somebody else was first.
 *
 * @returns false if this very answer or signal was given before
 */
export async function tell(kernel: Kernel, workflowId: string, command: Command): Promise<boolean> {
  const { store, registry, setting, changes, driver, messenger, clock } = kernel;
  const { environment, limits } = setting;
  const patiently = <T>(ask: () => Promise<T>): Promise<T> => {
    const until = environment.monotonicMs() + unavailableForMs;
    return persist(environment, () => until, ask);
  };
  for (let conflicts = 0; ; conflicts++) {
    const snapshot = await patiently(() => load(kernel, workflowId));
    // what was given before what was loaded is known by now; what is given after it is a conflict
    if (isAnswer(command) && (await patiently(() => answered(store, workflowId, command)))) return false;
    const workflow = await registry.pinned(workflowId, snapshot.definition.hash);
    const event = await decide(workflow, snapshot, command, await patiently(() => clock.now()), limits);
    const draft = openDraft(workflow.compiled, snapshot);
    const before = wakeAt(draft);
    if (!evolve(draft, event)) throw new StepfoldError("WAIT_GONE", { workflowId, target: command.type, open: [] });
    const write = commitOf(draft, [withConsequences(draft, event)], kernel.newCommitId());
    const make = (whole: Commit): Promise<void> => patiently(() => store.commit(whole));
    // of a time that stays as it was somebody has been told
    const due = write.wakeAt === 0 || write.wakeAt !== before ? write.wakeAt : null;
    let isTold = false;
    try {
      if (driver.isOpen || due === null) await make(write);
      else isTold = await messenger.sendWith(draft, write, make);
    } catch (error) {
      const overtaken = StepfoldError.is(error, "VERSION_CONFLICT") || StepfoldError.is(error, "EXECUTION_ENDED");
      if (overtaken && conflicts < mostConflicts) continue;
      throw error;
    }
    changes.tell({ workflowId, version: draft.version, status: statusOf(draft), snapshot: () => closeDraft(draft) });
    if (!isTold) await nudge(kernel, workflowId, { draft, wakeAt: due });
    return true;
  }
}

function isAnswer(command: Command): command is ResumeCommand | SignalCommand {
  return command.type === "resume" || command.type === "signal";
}

/** Answers a wait or sends a signal, once per idempotency key. */
export async function answer(
  kernel: Kernel,
  workflowId: string,
  command: ResumeCommand | SignalCommand,
): Promise<{ readonly applied: boolean }> {
  try {
    return { applied: await tell(kernel, workflowId, command) };
  } catch (error) {
    // the same answer may have been given between the look and the write
    if (StepfoldError.is(error) && (await answered(kernel.store, workflowId, command))) return { applied: false };
    throw error;
  }
}
