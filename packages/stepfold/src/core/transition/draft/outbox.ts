import type { CompletedEvent, DeliveredEvent } from "../../snapshot/event.ts";
import type { ChildStart, Message, SignalBroadcast, SignalSend } from "../../snapshot/message.ts";
import type { Snapshot, Wait } from "../../snapshot/snapshot.ts";
import type { Draft } from "./draft.ts";

type Unsent<M = Message> = M extends Message ? Omit<M, "id"> : never;

/** Keeps a message until it is delivered. */
function enqueueMessage(draft: Draft, message: Unsent): void {
  const [version, nth] = draft.outbox.at(-1)?.id.split(".").map(Number) ?? [];
  const id = `${draft.version + 1}.${version === draft.version + 1 ? nth! + 1 : 0}`;
  draft.outbox = Object.freeze([...draft.outbox, Object.freeze({ id, ...message } as Message)]);
}

/** Keeps the message that starts a detached execution. */
export function enqueueStart(draft: Draft, { workflowId, allowed: _, ...start }: ChildStart, waitId?: string): void {
  draft.descendants += 1 + (start.descendants ?? 0);
  enqueueMessage(draft, { type: "start", to: workflowId, ...start, ...(waitId !== undefined && { waitId }) });
}

/** Keeps the signal that a step sends. */
export function enqueueSignal(draft: Draft, { allowed: _, ...signal }: SignalSend | SignalBroadcast, waitId: string): void {
  enqueueMessage(draft, { ...signal, waitId });
}

/** Keeps what a step tells executions that are no children of this one. */
export function enqueueSends(draft: Draft, sends: NonNullable<CompletedEvent["sends"]>): void {
  for (const message of sends) enqueueMessage(draft, message);
}

/** Makes an execution that is ending go on as another one. */
export function enqueueSuccessor(draft: Draft, { workflowId, input }: NonNullable<CompletedEvent["continues"]>): void {
  draft.continuedAs = Object.freeze({ workflowId });
  enqueueMessage(draft, { type: "continue", to: workflowId, ...(input !== undefined && { input }) });
}

/** Cancels the executions that were started for these waits: the path does not wait for them any more. */
export function withdraw(draft: Draft, waits: readonly Wait[]): void {
  for (const { id, workflowId } of waits)
    if (workflowId !== undefined) enqueueMessage(draft, { type: "cancel", to: workflowId, waitId: id });
}

/** Tells the parent, or the schedule that wants to know, that an execution has ended. The execution is over only when all its messages are delivered. */
export function enqueueEnd(draft: Draft): void {
  const { ended, parent, scheduledBy, failedAt: nodeId, error, continuedAs } = draft;
  if (!ended) return;
  // the end of the one that it goes on as is what the parent waits for
  const told = parent?.waitId !== undefined ? parent : scheduledBy?.reports && scheduledBy;
  if (told && !continuedAs) enqueueMessage(draft, { type: "ended", to: told.workflowId });
  if (draft.outbox.length === 0) return;
  draft.ending = Object.freeze({ status: ended, nodeId, ...(error && { error }), begun: Object.freeze([]) });
  draft.ended = null;
}

/** True if an execution has nothing more to do than to deliver its messages. */
export function hasOnlyMessages({ ended, ending, paths }: Pick<Draft, "ended" | "ending" | "paths">): boolean {
  return ended === null && ending !== undefined && paths.length === 0;
}

/** The status that an execution will have when its messages are delivered; null if there is more to do. */
export function endOf({ ending, activePaths, outbox }: Pick<Snapshot, "ending" | "activePaths" | "outbox">): Snapshot["status"] | null {
  return ending && outbox && activePaths.length === 0 ? ending.status : null;
}

/** Removes messages that were delivered. */
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
