import type { CompletedEvent, DeliveredEvent } from "../../snapshot/event.ts";
import type { ChildStart, Message, SignalBroadcast, SignalSend } from "../../snapshot/parts/message.ts";
import type { Wait } from "../../snapshot/parts/wait.ts";
import type { Ending, Snapshot } from "../../snapshot/snapshot.ts";
import type { Draft } from "./draft.ts";

type Unsent<M = Message> = M extends Message ? Omit<M, "id"> : never;

/** Adds a message to the outbox, where it stays until it is delivered. Its id is the next version and a number: `7.0`, `7.1`. */
function enqueueMessage(draft: Draft, message: Unsent): void {
  const [version, nth] = draft.outbox.at(-1)?.id.split(".").map(Number) ?? [];
  const id = `${draft.version + 1}.${version === draft.version + 1 ? nth! + 1 : 0}`;
  draft.outbox = Object.freeze([...draft.outbox, Object.freeze({ id, ...message } as Message)]);
}

/** Adds the message that starts a detached execution to the outbox. `waitId` names the wait for its end; undefined if there is no wait. */
export function enqueueStart(draft: Draft, { workflowId, allowed: _, ...start }: ChildStart, waitId?: string): void {
  draft.descendants += 1 + (start.descendants ?? 0);
  enqueueMessage(draft, { type: "start", to: workflowId, ...start, ...(waitId !== undefined && { waitId }) });
}

/** Adds the signal or broadcast of a step to the outbox. `waitId` is the wait for its delivery. */
export function enqueueSignal(draft: Draft, { allowed: _, ...signal }: SignalSend | SignalBroadcast, waitId: string): void {
  enqueueMessage(draft, { ...signal, waitId });
}

/** Adds the messages of a step to executions that are not children of this one to the outbox. */
export function enqueueSends(draft: Draft, sends: NonNullable<CompletedEvent["sends"]>): void {
  for (const message of sends) enqueueMessage(draft, message);
}

/** Tells the schedule that waits for an execution that it was restarted. */
export function enqueueReopened(draft: Draft): void {
  const { scheduledBy } = draft;
  if (scheduledBy?.reports) enqueueMessage(draft, { type: "reopened", to: scheduledBy.workflowId });
}

/** Adds messages that cancel the detached executions of these waits, because the path does not wait for them any more. */
export function withdraw(draft: Draft, waits: readonly Wait[]): void {
  for (const { id, workflowId } of waits)
    if (workflowId !== undefined) enqueueMessage(draft, { type: "cancel", to: workflowId, waitId: id });
}

/**
 * Tells the parent that waits for an execution, or a schedule that asked for it, that the execution has ended. If there are messages to
 * deliver, the execution becomes open again with `ending`, and ends when all of them are delivered.
 */
export function enqueueEnd(draft: Draft): void {
  const { ended, parent, scheduledBy, failedNodeId: nodeId, error } = draft;
  if (!ended) return;
  const told = parent?.waitId !== undefined ? parent : scheduledBy?.reports && scheduledBy;
  if (told) enqueueMessage(draft, { type: "ended", to: told.workflowId });
  if (draft.outbox.length === 0) return;
  draft.ending = Object.freeze({ status: ended, nodeId, ...(error && { error }), begun: Object.freeze([]) });
  draft.ended = null;
}

/** True if the end of an execution is decided and it only delivers messages. After that it ends, or is parked if a compensation failed. */
export function hasOnlyMessages({ ended, ending, paths }: Pick<Draft, "ended" | "ending" | "paths">): boolean {
  return ended === null && ending !== undefined && paths.length === 0;
}

/** True if the end of an execution is decided and nothing can change it any more: it only delivers messages, and ends after that. */
export function isEndCertain(draft: Pick<Draft, "ended" | "ending" | "paths">): boolean {
  return hasOnlyMessages(draft) && draft.ending!.again === undefined;
}

/**
 * Returns the status with which an execution ends once its messages are delivered. Null for an execution that still has something else to
 * do, or that is parked after its messages because a compensation failed: its end is not certain before a `retry` or `cancel` command.
 */
export function statusAfterMessages({
  ending,
  activePaths,
  outbox,
}: Pick<Snapshot, "ending" | "activePaths" | "outbox">): Ending["status"] | null {
  return ending && !ending.again && outbox && activePaths.length === 0 ? ending.status : null;
}

/** Removes delivered messages from the outbox. If nothing else was left to do, the execution ends. False if none of them was there. */
export function applyDelivered(draft: Draft, { ids, version }: DeliveredEvent): boolean {
  const left = draft.outbox.filter(({ id }) => !ids.includes(id));
  if (left.length === draft.outbox.length) return false;
  draft.outbox = Object.freeze(left);
  draft.results = [];
  draft.endedPaths = [];
  draft.version = version;
  if (left.length > 0 || !hasOnlyMessages(draft)) return true;
  draft.ended = draft.ending!.status;
  draft.ending = undefined;
  return true;
}
