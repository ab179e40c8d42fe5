import { aDelayInSeconds, aText, checkOptions, requireMethods } from "../../core/values/check-arguments.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import { maxNamedDelayMs } from "../../ports/named-delay.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { type CheckedWakeUp, checkedQueue } from "../checked/checked-queue.ts";
import type { SqsClient } from "./sqs-client.ts";
import { sqsConsumer } from "./sqs-consumer.ts";
import { isRefusedBySqs, requireAllSent } from "./sqs-error.ts";
import { sqsEntry, sqsFifoEntry } from "./sqs-message.ts";

/** How an SQS queue behaves. */
export interface SqsQueueOptions {
  /** URL of the queue. If it ends in `.fifo`, the queue is a FIFO queue. */
  readonly queueUrl: string;
  /** How long a message waits after its handler failed, in whole seconds. Default 5. */
  readonly retryDelaySeconds?: number | undefined;
  /** How long one request waits for messages, in whole seconds up to 20. A longer wait means fewer requests to pay for. Default 20. */
  readonly waitSeconds?: number | undefined;
}

/** The most messages in one request. */
const maxEntries = 10;

/**
 * A queue in Amazon SQS. You hand in an `SQS` client and the URL of a queue that exists, and destroy the client yourself after `close()`.
 *
 * ```ts
 * import { SQS } from "@aws-sdk/client-sqs";
 * import { sqsQueue } from "stepfold/queues/sqs";
 *
 * const client = new SQS({ region: "eu-central-1" });
 * const queue = sqsQueue(client, { queueUrl: "https://sqs.eu-central-1.amazonaws.com/123456789012/stepfold" });
 * await queue.send([{ workflowId: "order-1", delayMs: 60_000 }]);
 * await queue.close();
 * client.destroy();
 * ```
 *
 * A standard queue delays a message by whole seconds, up to 15 minutes; a longer delay, up to 12 hours, is divided into several. A FIFO
 * queue delays nothing: every message comes at once, and the sweep of the store finds executions that are due later. Every wake-up is a
 * message of its own.
 *
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function sqsQueue(client: SqsClient, options: SqsQueueOptions): WorkQueue {
  requireMethods("client", client, "new SQS(...) of @aws-sdk/client-sqs", ["sendMessageBatch", "receiveMessage"]);
  checkOptions("sqsQueue", options, { queueUrl: aText, retryDelaySeconds: aDelayInSeconds, waitSeconds: aDelayInSeconds }, ["queueUrl"]);
  const { queueUrl, retryDelaySeconds = 5, waitSeconds = 20 } = options;
  const isFifo = queueUrl.endsWith(".fifo");
  const send = async (wakeUps: readonly CheckedWakeUp[]): Promise<void> => {
    for (let from = 0; from < wakeUps.length; from += maxEntries) {
      const entries = wakeUps.slice(from, from + maxEntries).map(({ workflowId, delayMs }, index) => {
        const id = String(index);
        return isFifo
          ? sqsFifoEntry(id, workflowId, systemEnvironment.newId())
          : sqsEntry(id, workflowId, delayMs, systemEnvironment.now());
      });
      requireAllSent(await client.sendMessageBatch({ QueueUrl: queueUrl, Entries: entries }));
    }
  };
  return checkedQueue({
    name: "sqs",
    features: { durable: true, multiProcess: true, maxDelayMs: isFifo ? 0 : maxNamedDelayMs },
    refuses: isRefusedBySqs,
    send,
    consume: async (handle, consuming) => sqsConsumer({ client, queueUrl, retryDelaySeconds, waitSeconds, handle, send, ...consuming }),
  });
}
