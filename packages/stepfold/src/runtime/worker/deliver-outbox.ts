import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ChildEnd, Message, ParentLink } from "../../core/snapshot/snapshot.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import type { EndChildCommand } from "../../engine/commands/end-child.ts";
import { requireSnapshot } from "../context/require-snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { continueExecution } from "./continue-execution.ts";
import { commandLocally, type LocalWork, startLocally, wakeExecution } from "./local-work.ts";

/** Messages delivered in one go: they leave the outbox before the next ones are delivered. */
const maxMessages = 100;

type StartMessage = Message & { readonly type: "start" };
type CancelMessage = Message & { readonly type: "cancel" };

/** What is to be delivered, and by whom. */
interface Delivery {
  readonly context: RuntimeContext;
  readonly local: LocalWork;
  /** The execution that sends. */
  readonly from: Draft;
  /** Whether its claim is in force. */
  readonly isHeld: () => boolean;
}

/**
 * Delivers the messages of an execution to other executions, the oldest first: starts a child, cancels a child, or tells
 * the parent of the end.
 *
 * After a crash a message may be delivered again: the second time it changes nothing.
 *
 * @param isHeld whether the claim of the sending execution is in force. Afterwards nothing more is sent: if the database fell back to
 *   an older state, the events that ask for these messages may be gone, and the next holder sends what is still to be sent
 * @returns the ids of the messages that are delivered
 * @throws what went wrong with the first one, if none is delivered
 */
export async function deliverOutbox(
  context: RuntimeContext,
  local: LocalWork,
  from: Draft,
  isHeld: () => boolean,
): Promise<readonly string[]> {
  const { workflowId } = from;
  const delivered: string[] = [];
  for (const message of from.outbox.slice(0, maxMessages)) {
    try {
      if (!isHeld()) throw new StepfoldError("FENCE_LOST", { workflowId });
      await deliver({ context, local, from, isHeld }, message);
    } catch (error) {
      if (delivered.length === 0) throw error;
      break;
    }
    delivered.push(message.id);
  }
  return delivered;
}

async function deliver(delivery: Delivery, message: Message): Promise<void> {
  const { from } = delivery;
  switch (message.type) {
    case "start":
      return startChild(delivery, message);
    case "cancel":
      return cancelChild(delivery, message);
    case "continue":
      return goOn(delivery, message);
    case "ended":
      return endChild(delivery, message.to, {
        type: "endChild",
        workflowId: from.workflowId,
        waitId: from.parent!.waitId!,
        incarnation: from.parent!.incarnation,
        end: endOf(from),
      });
  }
}

async function startChild(delivery: Delivery, message: StartMessage): Promise<void> {
  const { context, local, from } = delivery;
  const { to: workflowId, definition, input, waitId, descendants } = message;
  const prepared = await context.registry.pinned(from.workflowId, definition.hash);
  const parent: ParentLink = Object.freeze({
    workflowId: from.workflowId,
    ...(from.incarnation !== undefined && { incarnation: from.incarnation }),
    ...(waitId !== undefined && { waitId }),
    depth: (from.parent?.depth ?? 0) + 1,
    ...(descendants !== undefined && { descendants }),
  });
  const taken = { committed: false, wakeUp: null };
  let refusal: unknown = null;
  const { committed, wakeUp } = await startLocally(context, local, {
    prepared,
    options: { workflowId, input, tenant: from.tenant },
    parent,
  }).catch((error: unknown) => {
    if (StepfoldError.is(error, "WORKFLOW_EXISTS")) return taken;
    if (!isRefused(error)) throw error;
    refusal = error;
    return taken;
  });
  if (committed) return;
  if (refusal === null && (await isChildOf(context, workflowId, parent))) return wakeExecution(context, local, wakeUp);
  refusal ??= new StepfoldError("START_CONFLICT", { workflowId, differs: "parent" });
  context.onProblem(workflowId, refusal);
  if (waitId === undefined) return;
  const error = errorInfo(refusal);
  await endChild(delivery, from.workflowId, {
    type: "endChild",
    workflowId,
    waitId,
    incarnation: from.incarnation,
    end: { status: "failed", error },
  });
}

/** Begins the execution that the sender goes on as. If that is refused the parent is told that it has failed. */
async function goOn(delivery: Delivery, message: Message & { readonly type: "continue" }): Promise<void> {
  const { context, local, from } = delivery;
  const refusal = await continueExecution(context, local, from, message);
  if (!refusal) return;
  context.onProblem(message.to, refusal);
  const { workflowId, parent } = from;
  if (parent?.waitId === undefined) return;
  const { waitId, incarnation } = parent;
  await endChild(delivery, parent.workflowId, {
    type: "endChild",
    workflowId,
    waitId,
    incarnation,
    end: { status: "failed", error: errorInfo(refusal) },
  });
}

/** Whether a start would be refused by every worker. Then the node that wants the child fails, and the execution is not parked. */
function isRefused(error: unknown): boolean {
  return StepfoldError.is(error) && ["OPTION_INVALID", "LIMIT_EXCEEDED", "VALUE_NOT_JSON"].includes(error.code);
}

/** Whether the execution exists, and this very wait has started it. */
async function isChildOf({ store }: RuntimeContext, workflowId: string, link: ParentLink): Promise<boolean> {
  const parent = await requireSnapshot(store, workflowId).then(
    (existing) => existing.parent,
    (error: unknown) => {
      if (StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) return undefined;
      throw error;
    },
  );
  return parent?.workflowId === link.workflowId && parent.incarnation === link.incarnation && parent.waitId === link.waitId;
}

async function cancelChild({ context, local, from, isHeld }: Delivery, { to, waitId }: CancelMessage): Promise<void> {
  const { workflowId, incarnation } = from;
  const parent = { workflowId, waitId, ...(incarnation !== undefined && { incarnation }) };
  const reason = `execution ${workflowId} no longer waits for it`;
  await unlessGone(() => commandLocally(context, local, to, { type: "cancel", reason, parent }, isHeld));
}

async function endChild({ context, local, isHeld }: Delivery, to: string, command: EndChildCommand): Promise<void> {
  const send = (sent: EndChildCommand): Promise<void> => unlessGone(() => commandLocally(context, local, to, sent, isHeld));
  try {
    await send(command);
  } catch (error) {
    // an output larger than the parent may hold: the child has failed, as far as the parent is concerned
    if (!StepfoldError.is(error, "LIMIT_EXCEEDED")) throw error;
    await send({ ...command, end: { status: "failed", error: errorInfo(error) } });
  }
}

/** A message counts as delivered if the execution or the wait that it is for is gone. */
async function unlessGone(command: () => Promise<unknown>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (StepfoldError.is(error) && ["WORKFLOW_NOT_FOUND", "EXECUTION_ENDED", "WAIT_GONE"].includes(error.code)) return;
    throw error;
  }
}

function endOf({ ending, output, error }: Draft): ChildEnd {
  return { status: ending!.status, ...(output !== undefined && { output }), ...(error && { error }) };
}
