import { sha256 } from "../../core/values/hash/sha256.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import { maxNamedDelayMs } from "../../ports/named-delay.ts";
import { workflowIdOf } from "../checked/wake-up-message.ts";
import type { SqsEntry } from "./sqs-client.ts";

/** The longest delay of SQS. */
const maxDelaySeconds = 900;

/** The content of a message. */
export interface SqsWakeUp {
  readonly workflowId: string;
  /**
   * When the message is due, in milliseconds since 1970; at most 12 hours from when it is read. Absent if SQS can delay the message itself
   * until then.
   */
  readonly dueAt?: number;
}

/**
 * Makes the message for one wake-up. SQS cannot delay it longer than 15 minutes: if it is due later, the consumer that receives it early
 * sends it again with the remaining delay.
 */
export function sqsEntry(id: string, workflowId: string, delayMs: number, now: number): SqsEntry {
  const seconds = Math.ceil(delayMs / 1000);
  const wakeUp: SqsWakeUp = seconds > maxDelaySeconds ? { workflowId, dueAt: now + delayMs } : { workflowId };
  const delay = Math.min(seconds, maxDelaySeconds);
  return { Id: id, MessageBody: bodyOf(wakeUp), ...(delay > 0 && { DelaySeconds: delay }) };
}

/**
 * Makes the message for a FIFO queue, which has no delays for single messages. Messages of one execution are delivered one after the other.
 * `uniqueId` keeps SQS from dropping the message as a repetition of another one.
 */
export function sqsFifoEntry(id: string, workflowId: string, uniqueId: string): SqsEntry {
  // the id of an execution may be longer than the name of a group, and may have characters that a group must not have
  return { Id: id, MessageBody: bodyOf({ workflowId }), MessageGroupId: sha256(workflowId), MessageDeduplicationId: uniqueId };
}

/** Writes the content as JSON in ASCII, because SQS refuses some characters. */
function bodyOf(wakeUp: SqsWakeUp): string {
  return JSON.stringify(wakeUp).replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Reads the body of a message; null if it is not a message of Stepfold.
 *
 * @param text as it was received; anybody may have sent it
 * @param now default: the time of this machine
 */
export function readSqsMessage(text: string | undefined, now: EpochMs = systemEnvironment.now()): SqsWakeUp | null {
  let body: unknown;
  try {
    body = JSON.parse(text ?? "");
  } catch {
    return null;
  }
  const workflowId = workflowIdOf(body);
  const { dueAt } = (body ?? {}) as { readonly dueAt?: unknown };
  return workflowId === null ? null : { workflowId, ...(typeof dueAt === "number" && { dueAt: Math.min(dueAt, now + maxNamedDelayMs) }) };
}
