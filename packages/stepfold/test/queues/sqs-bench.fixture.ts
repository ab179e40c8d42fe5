import { SQS } from "@aws-sdk/client-sqs";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { sqsQueue } from "../../src/queues/sqs/index.ts";
import type { QueueBench } from "../../src/testing/index.ts";
import { wait } from "../testing/store-contract.fixture.ts";

/** The URL of the emulator; null if no server answers. */
export const url: string | null = await serviceUrl("sqs");

let queues = 0;

/** A client of the emulator, which does not check credentials. */
export function clientOf(endpoint: string | null = url): SQS {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new SQS({ region: "us-east-1", endpoint: endpoint ?? "http://127.0.0.1:1", credentials, maxAttempts: 1 });
}

/** Makes a queue with a name that no other run uses. @returns the URL of the queue */
export async function newQueue(client: SQS, suffix: "" | ".fifo" = ""): Promise<string> {
  const name = `stepfold-test-${process.pid}-${++queues}-${Math.trunc(performance.timeOrigin % 1e9)}${suffix}`;
  const { QueueUrl } = await client.createQueue({ QueueName: name, ...(suffix && { Attributes: { FifoQueue: "true" } }) });
  return QueueUrl!;
}

/** A bench on a new queue. Each handle has its own client, and `kill` cuts the client of one handle. */
export async function sqsBench(suffix: "" | ".fifo" = ""): Promise<QueueBench & { readonly close: () => Promise<void> }> {
  const admin = clientOf();
  const queueUrl = await newQueue(admin, suffix);
  const cuts = new Map<WorkQueue, () => void>();
  const open = async (): Promise<WorkQueue> => {
    const client = clientOf();
    let isCut = false;
    const unlessCut =
      <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
      (...args: A): Promise<T> =>
        isCut ? new Promise<never>(() => undefined) : call(...args);
    const queue = sqsQueue(
      {
        sendMessageBatch: unlessCut((input) => client.sendMessageBatch(input)),
        receiveMessage: unlessCut((input, options) => client.receiveMessage(input, options)),
        deleteMessage: unlessCut((input) => client.deleteMessage(input)),
        changeMessageVisibility: unlessCut((input) => client.changeMessageVisibility(input)),
      },
      { queueUrl, retryDelaySeconds: 1, waitSeconds: 1 },
    );
    cuts.set(queue, () => {
      isCut = true;
      client.destroy();
    });
    return queue;
  };
  return {
    queue: await open(),
    open,
    advance: wait,
    leaseMs: 2_000,
    patienceMs: 3_000,
    noticeMs: 5_000,
    kill: async (queue) => cuts.get(queue)?.(),
    async close() {
      for (const cut of cuts.values()) cut();
      await admin.deleteQueue({ QueueUrl: queueUrl });
      admin.destroy();
    },
  };
}
