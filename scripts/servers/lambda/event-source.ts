import type { Message, SQS } from "@aws-sdk/client-sqs";
import type { LocalFunction } from "./local-function.ts";

export interface EventSourceOptions {
  readonly client: SQS;
  readonly queueUrl: string;
  readonly target: LocalFunction;
  /** The largest number of messages in one call of the function. */
  readonly batchSize: number;
  /** How long a message stays hidden after its delivery, in seconds. */
  readonly visibilitySeconds: number;
  /** How many times each batch is delivered. Default: 1. */
  readonly deliveries?: number;
  /** The time between two scheduled calls of the function, in milliseconds. Default: no scheduled calls. */
  readonly scheduleMs?: number;
  /** Called with the messages of a delivery when the function has answered. */
  readonly onAnswer?: (messages: readonly Message[]) => void;
}

/**
 * Does the work of AWS between SQS, EventBridge and a function with `ReportBatchItemFailures`: it receives messages, calls the
 * function, and deletes the messages that were handled.
 */
export class EventSource {
  readonly #options: EventSourceOptions;
  readonly #closing = new AbortController();
  readonly #calls = new Set<Promise<void>>();
  readonly #polling: Promise<void>;
  readonly #schedule: NodeJS.Timeout | null;

  constructor(options: EventSourceOptions) {
    this.#options = options;
    this.#polling = this.#poll();
    const { scheduleMs, target } = options;
    const event = { version: "0", source: "aws.events", "detail-type": "Scheduled Event", detail: {} };
    this.#schedule = scheduleMs === undefined ? null : setInterval(() => this.#track(target.invoke(event)), scheduleMs);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#schedule) clearInterval(this.#schedule);
    await this.#polling;
    await this.#options.target.close();
    await Promise.all(this.#calls);
  }

  async #poll(): Promise<void> {
    const { client, queueUrl, batchSize, visibilitySeconds, deliveries = 1 } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const received = await client
        .receiveMessage(
          {
            QueueUrl: queueUrl,
            MaxNumberOfMessages: batchSize,
            WaitTimeSeconds: 1,
            VisibilityTimeout: visibilitySeconds,
            MessageSystemAttributeNames: ["All"],
          },
          { abortSignal: signal },
        )
        .catch(() => null);
      const messages = received?.Messages ?? [];
      if (messages.length === 0) continue;
      for (let delivery = 0; delivery < deliveries; delivery++) this.#track(this.#deliver(messages));
    }
  }

  async #deliver(messages: readonly Message[]): Promise<void> {
    const { client, queueUrl, target, onAnswer } = this.#options;
    const invocation = await target.invoke({ Records: messages.map(recordOf) });
    if (invocation.status !== "answered") return;
    onAnswer?.(messages);
    const { batchItemFailures } = invocation.value as { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    for (const { MessageId = "", ReceiptHandle = "" } of messages) {
      if (!failed.has(MessageId)) await client.deleteMessage({ QueueUrl: queueUrl, ReceiptHandle }).catch(() => undefined);
    }
  }

  #track(call: Promise<unknown>): void {
    const tracked = call
      .catch(() => undefined)
      .then(() => {
        this.#calls.delete(tracked);
      });
    this.#calls.add(tracked);
  }
}

/** Converts a message to a record of the function's event. */
function recordOf({ MessageId, ReceiptHandle, Body, MD5OfBody, Attributes = {} }: Message): object {
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes,
    messageAttributes: {},
    md5OfBody: MD5OfBody,
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:local",
    awsRegion: "us-east-1",
  };
}
