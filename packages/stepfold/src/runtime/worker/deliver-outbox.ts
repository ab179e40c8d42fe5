import type { Draft } from "../../core/draft/draft.ts";
import { errorInfo } from "../../core/errors/error-info.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ChildEnd, Message, ParentLink } from "../../core/snapshot/snapshot.ts";
import type { EndChildCommand } from "../../engine/end-child.ts";
import { tell } from "../commands/dispatch-command.ts";
import { create } from "../commands/start-execution.ts";
import { type Kernel, load, nudge } from "../context/runtime-context.ts";

/** So many at once: what has arrived is then taken out of the outbox before the next ones go. */
const mostAtOnce = 100;

type Start = Message & { readonly type: "start" };

/**
 * Takes the messages of an execution to others, the oldest first, and gives the ids of those that have arrived.
 *
 * A message may be taken again, by whoever drives after a crash: each is one that changes nothing the second time.
 *
 * @throws what went wrong with the first one, if none arrived
 */
export async function deliver(kernel: Kernel, from: Draft): Promise<readonly string[]> {
  const arrived: string[] = [];
  for (const message of from.outbox.slice(0, mostAtOnce)) {
    try {
      await take(kernel, from, message);
    } catch (error) {
      if (arrived.length === 0) throw error;
      break;
    }
    arrived.push(message.id);
  }
  return arrived;
}

async function take(kernel: Kernel, from: Draft, message: Message): Promise<void> {
  switch (message.type) {
    case "start":
      return startChild(kernel, from, message);
    case "cancel":
      return cancelChild(kernel, from, message);
    case "ended":
      return endChild(kernel, message.to, {
        type: "endChild",
        workflowId: from.workflowId,
        waitId: from.parent!.waitId!,
        incarnation: from.parent!.incarnation,
        end: endOf(from),
      });
  }
}

async function startChild(kernel: Kernel, from: Draft, message: Start): Promise<void> {
  const { to: workflowId, definition, input, waitId } = message;
  const prepared = await kernel.registry.pinned(from.workflowId, definition.hash);
  const link: ParentLink = Object.freeze({
    workflowId: from.workflowId,
    ...(from.incarnation !== undefined && { incarnation: from.incarnation }),
    ...(waitId !== undefined && { waitId }),
    depth: (from.parent?.depth ?? 0) + 1,
  });
  const { isNew } = await create(kernel, prepared, { workflowId, input }, link).catch((error: unknown) => {
    if (StepfoldError.is(error, "WORKFLOW_EXISTS")) return { isNew: false };
    throw error;
  });
  if (isNew || waitId === undefined) return;
  if (await isChildOf(kernel, workflowId, link)) return nudge(kernel, workflowId);
  const error = errorInfo(new StepfoldError("START_CONFLICT", { workflowId, differs: "parent" }));
  await endChild(kernel, from.workflowId, {
    type: "endChild",
    workflowId,
    waitId,
    incarnation: from.incarnation,
    end: { status: "failed", error },
  });
}

/** Whether an execution is there, and was begun by this very wait. */
async function isChildOf(kernel: Kernel, workflowId: string, link: ParentLink): Promise<boolean> {
  const parent = await load(kernel, workflowId).then(
    (existing) => existing.parent,
    (error: unknown) => {
      if (StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) return undefined;
      throw error;
    },
  );
  return parent?.workflowId === link.workflowId && parent.incarnation === link.incarnation && parent.waitId === link.waitId;
}

async function cancelChild(
  kernel: Kernel,
  { workflowId, incarnation }: Draft,
  { to, waitId }: Message & { type: "cancel" },
): Promise<void> {
  const parent = { workflowId, waitId, ...(incarnation !== undefined && { incarnation }) };
  await unlessGone(() => tell(kernel, to, { type: "cancel", reason: `execution ${workflowId} no longer waits for it`, parent }));
}

async function endChild(kernel: Kernel, to: string, command: EndChildCommand): Promise<void> {
  try {
    await unlessGone(() => tell(kernel, to, command));
  } catch (error) {
    // an output that is more than the other one may hold is not what it was waiting for
    if (!StepfoldError.is(error, "LIMIT_EXCEEDED")) throw error;
    await unlessGone(() => tell(kernel, to, { ...command, end: { status: "failed", error: errorInfo(error) } }));
  }
}

/** What nobody waits for any more has arrived. */
async function unlessGone(deliver: () => Promise<unknown>): Promise<void> {
  try {
    await deliver();
  } catch (error) {
    if (StepfoldError.is(error) && ["WORKFLOW_NOT_FOUND", "EXECUTION_ENDED", "WAIT_GONE"].includes(error.code)) return;
    throw error;
  }
}

function endOf({ ending, output, error }: Draft): ChildEnd {
  return { status: ending!.status, ...(output !== undefined && { output }), ...(error && { error }) };
}
