import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ChildEnd } from "../../core/snapshot/parts/message.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import type { Command } from "../../engine/commands/command.ts";
import type { EndChildCommand } from "../../engine/commands/end-child.ts";
import type { ExecutionStart, StartResult } from "../commands/start-execution.ts";
import type { CommandJob } from "../context/command-result.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import type { LocalWork } from "../local/local-work.ts";

/** The sender of a message, and what is needed to deliver the message. */
export interface OutboxDelivery {
  readonly context: RuntimeContext;
  readonly local: LocalWork;
  /** The execution that sends. */
  readonly from: Draft;
  /** Whether the claim of the sender is in force. */
  readonly isHeld: () => boolean;
  /** Commits a command to an execution, also to the sender itself, as long as the claim of the sender is in force (`commandLocally`). */
  readonly command: (workflowId: string, command: Command, about?: Pick<CommandJob, "ofSchedules">) => Promise<boolean>;
  /** Starts an execution: `startLocally`. */
  readonly start: (request: ExecutionStart) => Promise<StartResult>;
}

/**
 * Tells an execution that a detached child has ended, or whether a signal of a step has arrived. If it does not wait for this any more,
 * nothing happens.
 */
export async function reportEnd(delivery: OutboxDelivery, to: string, command: EndChildCommand): Promise<void> {
  const send = async (sent: EndChildCommand): Promise<void> => void (await unlessGone(() => delivery.command(to, sent)));
  try {
    await send(command);
  } catch (error) {
    // the output is larger than the parent may hold, so the parent is told that the child has failed
    if (!StepfoldError.is(error, "LIMIT_EXCEEDED")) throw error;
    await send({ ...command, end: { status: "failed", error: errorInfo(error, undefined, delivery.context.secrets.scrub) } });
  }
}

/** Delivers a message. The message also counts as delivered if its receiver, or the wait for it, is gone. @returns false if it is gone */
export async function unlessGone(command: () => Promise<unknown>): Promise<boolean> {
  try {
    await command();
    return true;
  } catch (error) {
    if (StepfoldError.is(error) && ["WORKFLOW_NOT_FOUND", "EXECUTION_ENDED", "WAIT_GONE"].includes(error.code)) return false;
    throw error;
  }
}

/** Returns the end status of the sender of the message `ended`. Until the message has left the outbox, the status is that of `ending`. */
export function statusToReport({ ended, ending }: Draft): ChildEnd["status"] {
  return ended ?? ending!.status;
}

/** Returns the end of a child that has ended, as it is stored. One that was deleted has failed with `WORKFLOW_NOT_FOUND`. */
export async function storedEnd({ store }: RuntimeContext, workflowId: string, status: ChildEnd["status"]): Promise<ChildEnd> {
  const child = await store.load(workflowId);
  if (child) return endToReport(status, child);
  return { status: "failed", error: errorInfo(new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId })) };
}

/** Returns the end of an execution in the form in which the execution that waits for it is told. */
export function endToReport(status: ChildEnd["status"], { output, error }: Pick<Snapshot | Draft, "output" | "error">): ChildEnd {
  return { status, ...(output !== undefined && { output }), ...(error && { error }) };
}

/** Whether a restart or a start was refused. A store that does not answer, and any other error that may pass, is not a refusal. */
export function isRefused(error: unknown): error is StepfoldError {
  return StepfoldError.is(error) && !error.retryable && !transient.has(error.code);
}

/** Codes of errors that say nothing about the execution: the delivery is tried again. */
const transient: ReadonlySet<string> = new Set(["FENCE_LOST", "OUTCOME_UNKNOWN", "RUNTIME_CLOSED", "STORE_REJECTED", "VERSION_CONFLICT"]);
