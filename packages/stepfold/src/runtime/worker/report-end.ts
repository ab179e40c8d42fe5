import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ChildEnd } from "../../core/snapshot/message.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import type { Command } from "../../engine/commands/command.ts";
import type { EndChildCommand } from "../../engine/commands/end-child.ts";
import type { ExecutionStart, StartResult } from "../commands/start-execution.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { restartOf } from "../context/successor.ts";
import type { LocalWork } from "./local-work.ts";

/** What is to be delivered, and by whom. */
export interface OutboxDelivery {
  readonly context: RuntimeContext;
  readonly local: LocalWork;
  /** The execution that sends. */
  readonly from: Draft;
  /** Whether its claim is in force. */
  readonly isHeld: () => boolean;
  /** Commits what a command makes of an execution, while the claim is in force: `commandLocally`. */
  readonly command: (workflowId: string, command: Command) => Promise<boolean>;
  /** Starts an execution: `startLocally`. */
  readonly start: (request: ExecutionStart) => Promise<StartResult>;
}

/**
 * Tells an execution that a detached child of it has ended. If it has ended itself and was restarted, the execution that goes on in its place is told.
 */
export async function reportEnd(delivery: OutboxDelivery, to: string, command: EndChildCommand): Promise<void> {
  const send = async (workflowId: string, sent: EndChildCommand): Promise<void> => {
    if (await unlessGone(() => delivery.command(workflowId, sent))) return;
    const next = await restartOf(delivery.context.store, {
      workflowId,
      ...(sent.incarnation !== undefined && { incarnation: sent.incarnation }),
    });
    if (next) await send(next.workflowId, { ...sent, incarnation: next.incarnation });
  };
  try {
    await send(to, command);
  } catch (error) {
    // an output larger than the parent may hold: the child has failed, as far as the parent is concerned
    if (!StepfoldError.is(error, "LIMIT_EXCEEDED")) throw error;
    await send(to, { ...command, end: { status: "failed", error: errorInfo(error) } });
  }
}

/** A message counts as delivered if the execution or the wait that it is for is gone. @returns false if it is gone */
export async function unlessGone(command: () => Promise<unknown>): Promise<boolean> {
  try {
    await command();
    return true;
  } catch (error) {
    if (StepfoldError.is(error) && ["WORKFLOW_NOT_FOUND", "EXECUTION_ENDED", "WAIT_GONE"].includes(error.code)) return false;
    throw error;
  }
}

/** How the sender of the message `ended` has ended: it is over once that has left its outbox. */
export function statusToReport({ ended, ending }: Draft): ChildEnd["status"] {
  return ended ?? ending!.status;
}

/** How an execution has ended, for the one that waits for it. */
export function endToReport(status: ChildEnd["status"], { output, error }: Pick<Snapshot | Draft, "output" | "error">): ChildEnd {
  return { status, ...(output !== undefined && { output }), ...(error && { error }) };
}
