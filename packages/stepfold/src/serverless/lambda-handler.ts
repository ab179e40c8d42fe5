import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { systemEnvironment } from "../environment/system-environment.ts";
import type { WakeUp } from "../ports/work-queue.ts";
import { foreignMessage } from "../queues/checked/wake-up-message.ts";
import { readSqsMessage } from "../queues/sqs/sqs-message.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { SweepOptions } from "../runtime/worker/sweep.ts";
import { publicReport } from "./fetch-handler.ts";

/** The method that is used of the context that AWS Lambda passes to a function. Declared here, so that no package is a dependency. */
export interface LambdaContext {
  /** The time until Lambda ends the function. */
  getRemainingTimeInMillis(): number;
}

/** The answer to an event of SQS: the messages that could not be handled. SQS delivers these again and deletes the others. */
export interface SqsBatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** A function of AWS Lambda. It returns the answer to an event of SQS, or the report of a sweep. */
export type LambdaHandler = (event: unknown, context: LambdaContext) => Promise<SqsBatchResponse | object>;

/** Options of the handler for AWS Lambda. */
interface LambdaOptions {
  readonly bounds: Pick<SweepOptions, "limit" | "concurrency">;
  readonly onProblem: (error: unknown) => void;
}

/** A message of SQS, as an event contains it. */
interface SqsRecord {
  readonly messageId: string;
  readonly body?: string;
  readonly eventSource: "aws:sqs";
}

/** The longest time of a call that is kept for its answer, in milliseconds. */
const maxReserveMs = 500;
/** The part of a call's time that is kept for its answer, if that is less than `maxReserveMs`. */
const reservePart = 0.1;
/** The most messages in one event: SQS sends no more at once. */
const maxRecords = 10_000;

/** Makes the handler that answers events of SQS and of EventBridge. For any other event it rejects with `OPTION_INVALID`. */
export function lambdaHandler(runtime: Pick<Runtime, "sweep">, { bounds, onProblem }: LambdaOptions): LambdaHandler {
  return async (event, context) => {
    const remainingMs = context.getRemainingTimeInMillis();
    const timeoutMs = Math.max(1, remainingMs - Math.min(maxReserveMs, remainingMs * reservePart));
    const records = sqsRecords(event);
    if (!records && !isScheduled(event)) {
      throw new StepfoldError("OPTION_INVALID", { option: "event", reason: "must be an event of SQS or of an EventBridge schedule" });
    }
    if (!records) return publicReport(await runtime.sweep({ ...bounds, timeoutMs }));
    const wakeUps = new Map<SqsRecord, WakeUp>();
    for (const record of records) {
      const wakeUp = wakeUpIn(record);
      if (wakeUp) wakeUps.set(record, wakeUp);
      else onProblem(foreignMessage("sqs"));
    }
    const { left, failed } = await runtime.sweep({ ...bounds, timeoutMs, wakeUps: [...wakeUps.values()] });
    const again = new Set([...left.filter(({ isAnnounced }) => !isAnnounced), ...failed].map(({ workflowId }) => workflowId));
    for (const { error } of failed) onProblem(error);
    const failures = [...wakeUps].filter(([, { workflowId }]) => again.has(workflowId));
    return { batchItemFailures: failures.map(([{ messageId: itemIdentifier }]) => ({ itemIdentifier })) };
  };
}

/** Returns the messages of an event; null if it is not an event of SQS. */
function sqsRecords(event: unknown): readonly SqsRecord[] | null {
  const { Records } = (event ?? {}) as { readonly Records?: unknown };
  if (!Array.isArray(Records) || Records.length > maxRecords) return null;
  const isSqs = (record: Partial<SqsRecord> | null): boolean => typeof record?.messageId === "string" && record.eventSource === "aws:sqs";
  return Records.every(isSqs) ? (Records as SqsRecord[]) : null;
}

/** Whether an event comes from a rule of EventBridge, or from EventBridge Scheduler. */
function isScheduled(event: unknown): boolean {
  const { source, "detail-type": type } = (event ?? {}) as { readonly source?: unknown; readonly "detail-type"?: unknown };
  return (source === "aws.events" || source === "aws.scheduler") && type === "Scheduled Event";
}

/** Reads a message; null if it is not from Stepfold. If SQS could not delay the message for long enough, it contains its due time. */
function wakeUpIn({ body }: SqsRecord): WakeUp | null {
  const wakeUp = readSqsMessage(typeof body === "string" ? body : undefined);
  if (!wakeUp) return null;
  const { workflowId, dueAt = 0 } = wakeUp;
  const delayMs = dueAt - systemEnvironment.now();
  return { workflowId, ...(delayMs > 0 && { delayMs }) };
}
