export type { SqsBatchResult, SqsClient, SqsEntry, SqsMessage } from "./sqs-client.ts";
export { readSqsMessage, type SqsWakeUp } from "./sqs-message.ts";
export { type SqsQueueOptions, sqsQueue } from "./sqs-queue.ts";
