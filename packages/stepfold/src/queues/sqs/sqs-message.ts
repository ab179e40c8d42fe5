import { sha256 } from "../../core/values/sha256.ts";
import { workflowIdOf } from "../checked/wake-up-message.ts";
import type { SqsEntry } from "./sqs-client.ts";

/** The longest delay of SQS. */
const maxDelaySeconds = 900;

/** What a message says. */
export interface SqsWakeUp {
  readonly workflowId: string;
  /** When it is due, if that is later than SQS can delay it. */
  readonly dueAt?: number;
}

/** A message for one wake-up. A delay that is longer than SQS allows is made of several: whoever receives it early sends it on. */
export function sqsEntry(id: string, workflowId: string, delayMs: number, now: number): SqsEntry {
  const seconds = Math.ceil(delayMs / 1000);
  const wakeUp: SqsWakeUp = seconds > maxDelaySeconds ? { workflowId, dueAt: now + delayMs } : { workflowId };
  const delay = Math.min(seconds, maxDelaySeconds);
  return { Id: id, MessageBody: bodyOf(wakeUp), ...(delay > 0 && { DelaySeconds: delay }) };
}

/**
 * A message for a FIFO queue, which has no delays for single messages. Messages of one execution come one after the other; none is taken for the
 * repetition of another.
 */
export function sqsFifoEntry(id: string, workflowId: string, uniqueId: string): SqsEntry {
  // an id of an execution may have letters that a group may not, and be longer
  return { Id: id, MessageBody: bodyOf({ workflowId }), MessageGroupId: sha256(workflowId), MessageDeduplicationId: uniqueId };
}

/** In ASCII: SQS refuses some characters. */
function bodyOf(wakeUp: SqsWakeUp): string {
  return JSON.stringify(wakeUp).replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What the body of a message says; null if it is no message of Stepfold. @param text as it was received, from anybody */
export function readSqsMessage(text: string | undefined): SqsWakeUp | null {
  let body: unknown;
  try {
    body = JSON.parse(text ?? "");
  } catch {
    return null;
  }
  const workflowId = workflowIdOf(body);
  const { dueAt } = (body ?? {}) as { readonly dueAt?: unknown };
  return workflowId === null ? null : { workflowId, ...(typeof dueAt === "number" && { dueAt }) };
}
