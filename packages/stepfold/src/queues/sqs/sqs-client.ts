/** A message that was received. */
export interface SqsMessage {
  readonly Body?: string | undefined;
  readonly ReceiptHandle?: string | undefined;
}

/** A message in a batch to send. */
export interface SqsEntry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly DelaySeconds?: number;
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
}

/** The answer to a batch: which of its messages were refused. */
export interface SqsBatchResult {
  readonly Failed?: readonly { readonly SenderFault?: boolean | undefined; readonly Code?: string | undefined }[] | undefined;
}

/** The methods of an `SQS` client of @aws-sdk/client-sqs that are used. Described here and not imported, so that it is no dependency. */
export interface SqsClient {
  sendMessageBatch(input: { QueueUrl: string; Entries: SqsEntry[] }): Promise<SqsBatchResult>;
  receiveMessage(
    input: { QueueUrl: string; MaxNumberOfMessages: number; WaitTimeSeconds: number; VisibilityTimeout: number },
    options: { abortSignal: AbortSignal },
  ): Promise<{ readonly Messages?: readonly SqsMessage[] | undefined }>;
  deleteMessage(input: { QueueUrl: string; ReceiptHandle: string }): Promise<unknown>;
  changeMessageVisibility(input: { QueueUrl: string; ReceiptHandle: string; VisibilityTimeout: number }): Promise<unknown>;
}
